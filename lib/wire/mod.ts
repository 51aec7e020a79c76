/**
 * HTTP/2 as bytes: frames, header compression, and finished frames kept for many readers.
 *
 * Owns the layout of frames (RFC 9113 §4, §6), HPACK (RFC 7541), and three ideas that make the hop cheap:
 *
 * - a {@linkcode HeaderList} is interned, so what was worked out for a list of fields is found on it again;
 * - a reply's header block is *stateless* (static table and literals only), so the same bytes serve every
 *   connection;
 * - a {@linkcode FrameLog} is one direction of a stream as finished frames, written once and copied to each
 *   reader with only the stream id filled in.
 *
 * Knows no stream state, no flow control and no gRPC. Synchronous; asks nobody for time or anything else.
 * Decoding never throws for what a peer sent: it returns what is wrong with it.
 *
 * @module
 */
export { BufferedBytes } from "./buffered_bytes.ts";
export { copyBytes, equalBytes, latin1, putLatin1 } from "./bytes.ts";
export { Field } from "./field.ts";
export * from "./frame.ts";
export { FrameLog } from "./frame_log.ts";
export { HeaderCache } from "./header_cache.ts";
export { HeaderList } from "./header_list.ts";
export { DEFAULT_TABLE_BYTES, HpackDecoder } from "./hpack_decoder.ts";
export {
  encodeStateless,
  HpackEncoder,
  statelessBlock,
  writeLiteral,
  writeStateless,
} from "./hpack_encoder.ts";
export { OutputBuffer } from "./output_buffer.ts";
