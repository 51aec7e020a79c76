/** Four bytes as a number (all 32 bits). */
export function numberAt(bytes: Uint8Array, at: number): number {
  return new DataView(bytes.buffer, bytes.byteOffset + at).getUint32(0);
}
