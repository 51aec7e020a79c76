/** The states of RFC 9113 §5.1 but the reserved ones: we announce SETTINGS_ENABLE_PUSH=0, so nothing is ever reserved. */
export const STATES = ["idle", "open", "halfClosedLocal", "halfClosedRemote", "closed"] as const;

/** What can happen to a stream. DATA, trailers and WINDOW_UPDATE change nothing and need only be allowed. */
export const INPUTS = [
  "sendHeaders",
  "recvHeaders",
  "sendData",
  "recvData",
  "sendEnd",
  "recvEnd",
  "recvWindowUpdate",
  "sendReset",
  "recvReset",
] as const;

export type StateName = typeof STATES[number];
export type InputName = typeof INPUTS[number];

/** The state that each input leads to; an absent cell is a protocol error (from the peer) or misuse (of ours). */
export const TRANSITIONS: Readonly<Record<StateName, Partial<Record<InputName, StateName>>>> = {
  idle: { sendHeaders: "open", recvHeaders: "open" },
  open: {
    sendHeaders: "open", // initial headers of the reply, or trailers
    recvHeaders: "open",
    sendData: "open",
    recvData: "open",
    sendEnd: "halfClosedLocal",
    recvEnd: "halfClosedRemote",
    recvWindowUpdate: "open",
    sendReset: "closed",
    recvReset: "closed",
  },
  halfClosedLocal: {
    recvHeaders: "halfClosedLocal",
    recvData: "halfClosedLocal",
    recvEnd: "closed",
    recvWindowUpdate: "halfClosedLocal",
    sendReset: "closed",
    recvReset: "closed",
  },
  halfClosedRemote: {
    sendHeaders: "halfClosedRemote",
    sendData: "halfClosedRemote",
    sendEnd: "closed",
    recvWindowUpdate: "halfClosedRemote",
    sendReset: "closed",
    recvReset: "closed",
  },
  // What crossed our end of the stream on the wire is told apart by Connection, which alone knows how it ended.
  closed: { recvReset: "closed", recvWindowUpdate: "closed" },
};

/** The table as numbers for the hot path: `NEXT[state * INPUTS.length + input]`; ILLEGAL where there is no cell. */
export const ILLEGAL = 255;
export const STATE = {
  idle: 0,
  open: 1,
  halfClosedLocal: 2,
  halfClosedRemote: 3,
  closed: 4,
} as const;
export const INPUT = {
  sendHeaders: 0,
  recvHeaders: 1,
  sendData: 2,
  recvData: 3,
  sendEnd: 4,
  recvEnd: 5,
  recvWindowUpdate: 6,
  sendReset: 7,
  recvReset: 8,
} as const;

const NEXT = Uint8Array.from(
  STATES.flatMap((state) =>
    INPUTS.map((input) => {
      const next = TRANSITIONS[state][input];
      return next === undefined ? ILLEGAL : STATES.indexOf(next);
    })
  ),
);

/** The state after `input`, or {@linkcode ILLEGAL}. */
export function nextState(state: number, input: number): number {
  return NEXT[state * INPUTS.length + input]!;
}
