import {
  DEFAULT_MAX_FRAME_BYTES,
  DEFAULT_TABLE_BYTES,
  DEFAULT_WINDOW_BYTES,
  ERROR_CODE,
  type HpackEncoder,
  LARGEST_MAX_FRAME_BYTES,
  MAX_WINDOW_BYTES,
  readUint32,
  SETTING,
} from "../wire/mod.ts";

/**
 * A setting of our own, from the range that nobody has assigned: a number that tells one process from another, so that one
 * which is connected to itself finds out. Peers ignore it (RFC 9113 §6.5.2), and it costs a call nothing.
 */
export const INSTANCE_SETTING = 0xc011;

/** The settings that a peer has announced; the initial values are the protocol's (RFC 9113 §6.5.2). */
export interface PeerSettings {
  headerTableBytes: number;
  maxConcurrentStreams: number;
  initialWindowBytes: number;
  maxFrameBytes: number;
  maxHeaderListBytes: number;
  /** Which process it is, where it says so ({@linkcode INSTANCE_SETTING}); 0 where it does not. */
  instance: number;
}

export function initialPeerSettings(): PeerSettings {
  return {
    headerTableBytes: DEFAULT_TABLE_BYTES,
    maxConcurrentStreams: Infinity,
    initialWindowBytes: DEFAULT_WINDOW_BYTES,
    maxFrameBytes: DEFAULT_MAX_FRAME_BYTES,
    maxHeaderListBytes: Infinity,
    instance: 0,
  };
}

/** What is wrong with a SETTINGS payload: always a connection error. */
export interface SettingsFault {
  readonly code: number;
  readonly why: string;
}

/** Applies a SETTINGS payload whose length is a multiple of six, in order (RFC 9113 §6.5.3). */
export function applySettings(
  settings: PeerSettings,
  payload: {
    bytes: Uint8Array;
    from: number;
    to: number;
    fromServer: boolean;
    encoder: Pick<HpackEncoder, "setMaxTableBytes">;
  },
): SettingsFault | undefined {
  const { bytes, from, to, fromServer, encoder } = payload;
  for (let at = from; at < to; at += 6) {
    const value = readUint32(bytes, at + 2);
    switch ((bytes[at]! << 8) | bytes[at + 1]!) {
      case SETTING.headerTableSize:
        settings.headerTableBytes = value;
        encoder.setMaxTableBytes(value); // of several, the least counts too (RFC 7541 §4.2)
        break;
      case SETTING.enablePush:
        if (value > 1 || (fromServer && value === 1)) {
          return { code: ERROR_CODE.protocolError, why: `SETTINGS_ENABLE_PUSH of ${value}` };
        }
        break;
      case SETTING.maxConcurrentStreams:
        settings.maxConcurrentStreams = value;
        break;
      case SETTING.initialWindowSize:
        if (value > MAX_WINDOW_BYTES) {
          return {
            code: ERROR_CODE.flowControlError,
            why: `SETTINGS_INITIAL_WINDOW_SIZE of ${value}`,
          };
        }
        settings.initialWindowBytes = value;
        break;
      case SETTING.maxFrameSize:
        if (value < DEFAULT_MAX_FRAME_BYTES || value > LARGEST_MAX_FRAME_BYTES) {
          return { code: ERROR_CODE.protocolError, why: `SETTINGS_MAX_FRAME_SIZE of ${value}` };
        }
        settings.maxFrameBytes = value;
        break;
      case SETTING.maxHeaderListSize:
        settings.maxHeaderListBytes = value;
        break;
      case INSTANCE_SETTING:
        settings.instance = value;
        break;
        // RFC 9113 §6.5.2: an identifier that is not known is ignored.
    }
  }
  return undefined;
}
