export default async function stopSharedStack() {
  await globalThis.millraceSharedStack?.stop();
}
