import type { Api } from './api.js';

export interface ListTransactionsResponse {
  readonly errorCode: number;
  readonly transactions: readonly { readonly transactionalId: string; readonly producerId: bigint; readonly state: string }[];
}

/** Each broker answers for the transactions that it coordinates (Kafka 3.0 and later). */
export const listTransactions: Api<{ readonly states: readonly string[] }, ListTransactionsResponse> = {
  key: 66,
  name: 'ListTransactions',
  minVersion: 0,
  maxVersion: 1,
  flexibleFrom: 0,

  encode(out, version, request) {
    out.writeArray(request.states, (state) => out.writeString(state));
    out.writeArray([], () => undefined);
    if (version >= 1) out.writeInt64(-1);
    out.endStruct();
  },

  decode(input) {
    input.readInt32();
    const errorCode = input.readInt16();
    input.readArray(() => input.readString());
    const transactions = input.readArray(() => {
      const transaction = { transactionalId: input.readString(), producerId: input.readBigInt64(), state: input.readString() };
      input.endStruct();
      return transaction;
    });
    input.endStruct();
    return { errorCode, transactions };
  },
};
