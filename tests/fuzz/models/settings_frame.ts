import { ERROR_CODE, FLAG, MAX_WINDOW_BYTES } from "../../../lib/wire/mod.ts";
import type { RawFrame } from "../../support/frame_parser.ts";
import { numberAt } from "./number_at.ts";

/** Two bytes of name, four of value. */
const SETTING_BYTES = 6;

/** What a SETTINGS frame says: nothing but that ours has come, settings in their order, or what it is a fault of. */
export type SettingsFrame =
  | { readonly says: "ack" }
  | { readonly says: "settings"; readonly pairs: readonly (readonly [id: number, value: number])[] }
  | { readonly says: "nothing"; readonly fault: number };

/** Reads a SETTINGS frame as RFC 9113 §6.5 has it, whoever sent it. */
export function readSettings({ flags, streamId, payload }: RawFrame): SettingsFrame {
  if (streamId !== 0) return { says: "nothing", fault: ERROR_CODE.protocolError };
  const isAck = (flags & FLAG.ack) !== 0;
  if (payload.length % SETTING_BYTES !== 0 || isAck && payload.length > 0) {
    return { says: "nothing", fault: ERROR_CODE.frameSizeError };
  }
  if (isAck) return { says: "ack" };
  const pairs: [number, number][] = [];
  for (let at = 0; at < payload.length; at += SETTING_BYTES) {
    pairs.push([payload[at]! * 256 + payload[at + 1]!, numberAt(payload, at + 2)]);
  }
  return { says: "settings", pairs };
}

/** The code of the fault that a value is, announced by a client or a server (RFC 9113 §6.5.2). */
export function faultOfSetting(
  [id, value]: readonly [id: number, value: number],
  by: "client" | "server",
): number | undefined {
  if (id === 2 && value > (by === "client" ? 1 : 0)) return ERROR_CODE.protocolError;
  if (id === 4 && value > MAX_WINDOW_BYTES) return ERROR_CODE.flowControlError;
  if (id === 5 && (value < 16_384 || value > 2 ** 24 - 1)) return ERROR_CODE.protocolError;
  return undefined;
}
