/** Whether an address that is listened at, or a peer's, is one that only this machine reaches (RFC 1122 §3.2.1.3, RFC 4291 §2.5.3). */
export function isLoopback(address: string): boolean {
  const plain = address.replace(/^\[|\]$/g, "").replace(/^::ffff:/i, "");
  return plain === "::1" || plain === "localhost" || /^127\.\d+\.\d+\.\d+$/.test(plain);
}
