/** Sends a request as it stands, and gives what comes back until the connection is closed. */
export async function askRaw(port: number, request: string): Promise<string> {
  using socket = await Deno.connect({ hostname: "127.0.0.1", port });
  await socket.write(new TextEncoder().encode(request));
  let text = "";
  const bytes = new Uint8Array(4_096);
  for (let n = await socket.read(bytes); n !== null; n = await socket.read(bytes)) {
    text += new TextDecoder().decode(bytes.subarray(0, n));
  }
  return text;
}
