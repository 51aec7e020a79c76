/**
 * Sockets and time: the only room that touches either.
 *
 * A {@linkcode Pump} moves bytes between a socket and a {@linkcode Connection}: one read at a time, one write a turn
 * ({@linkcode Turn}). {@linkcode Timers} is every deadline of the process behind a single timer. Both sides of the
 * proxy dial and listen through here, which is where TLS will stand: {@linkcode dialTcp} is one `Dial`, and
 * {@linkcode listen} one source of sockets.
 *
 * Invariants: Nagle's algorithm is off on every socket; never two writes under way on one; a peer that does not
 * read is not read from; a socket is closed exactly once.
 *
 * @module
 */
export { type Address, type Dial, dialTcp } from "./dial.ts";
export { listen, type Listening } from "./listen.ts";
export { Pump, type PumpOwner, type Socket, Turn } from "./pump.ts";
export { Alarm, CallbackAlarm, type Clock, SYSTEM_CLOCK, Timers } from "./timers.ts";
