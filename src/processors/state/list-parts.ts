import type { Serde } from '../../serdes/serde.js';
import type { ListRow, StateRows } from './keyed-state-backend.js';
import { hasRoom, isShort, RowParts, storedSize } from './row-parts.js';

/** The elements of lists of one state, in parts; with the times of their last update, and whatever the time to live says. */
export class ListParts extends RowParts<ListRow> {
  constructor(
    private readonly state: string,
    private readonly serde: Pick<Serde<never>, 'name' | 'serialize'>,
    rows: StateRows<ListRow>,
  ) {
    super(rows, ({ values }) => values.length);
  }

  /** @param updatedAt of all of them, or of each; ms of the wall clock */
  append(namespace: string, values: readonly unknown[], updatedAt: number | readonly number[]): void {
    const head = this.rows.get(namespace) ?? this.row();
    let place = this.last(namespace, head);
    let row = place === namespace ? head : (this.rows.get(place) ?? this.row());
    for (let i = 0; i < values.length; i++) {
      const bytes = isShort(row.values.length) ? 0 : storedSize(values[i] as never, this.serde);
      if (!hasRoom(row, bytes)) {
        this.rows.put(place, row);
        place = this.begin(namespace, head);
        row = this.row();
      }
      row.storedBytes += bytes;
      row.values.push(values[i]);
      row.updatedAt.push(typeof updatedAt === 'number' ? updatedAt : (updatedAt[i] ?? 0));
    }
    this.rows.put(place, row);
  }

  /** Moves all elements of `source` behind those of `target`. */
  move(source: string, target: string): void {
    const head = this.rows.get(source);
    const places = this.places(source, head);
    if (head === null || source === target) return;
    if (places.length === 1 && this.rows.get(target) === null) {
      this.rows.remove(source);
      this.rows.put(target, head);
      return;
    }
    for (const place of places) {
      const row = place === source ? head : this.rows.get(place);
      if (row === null) continue;
      this.rows.remove(place);
      this.append(target, row.values, row.updatedAt);
    }
  }

  private row(): ListRow {
    return { state: this.state, values: [], updatedAt: [], parts: null, storedBytes: 0 };
  }
}
