import type { Target } from "./run.ts";
import { cacheDirectives } from "./targets/cache_directives.ts";
import { connectionClient } from "./targets/connection_client.ts";
import { connectionServer } from "./targets/connection_server.ts";
import { frameReader } from "./targets/frame_reader.ts";
import { headerRules } from "./targets/header_rules.ts";
import { hpackDecoder } from "./targets/hpack_decoder.ts";
import { hpackEncoder } from "./targets/hpack_encoder.ts";
import { http1 } from "./targets/http1.ts";
import { huffman } from "./targets/huffman.ts";
import { messages } from "./targets/messages.ts";
import { proxy } from "./targets/proxy.ts";
import { texts } from "./targets/texts.ts";

/** Everything that is fuzzed, the small things first. */
export const TARGETS: readonly Target[] = [
  frameReader,
  huffman,
  hpackDecoder,
  hpackEncoder,
  messages,
  texts,
  cacheDirectives,
  headerRules,
  http1,
  connectionServer,
  connectionClient,
  proxy,
];
