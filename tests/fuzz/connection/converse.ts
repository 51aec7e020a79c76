import { assert, assertEquals } from "@std/assert";
import { ERROR_CODE, FrameLog } from "../../../lib/wire/mod.ts";
import {
  concat,
  ping,
  rstStream,
  settings,
  settingsAck,
  windowUpdate,
} from "../../support/frames.ts";
import { CarelessPeer } from "./careless_peer.ts";
import { Conversation, frameText, type Tamper } from "./conversation.ts";
import type { Draws } from "../draws.ts";
import type { Role } from "../models/connection_state.ts";
import { Owner } from "./owner.ts";

const MOST_MOVES = 120;

/** The window that we announce at once, by a WINDOW_UPDATE for what the protocol does not begin with. */
const CONNECTION_WINDOW_BYTES = 2 ** 20;
const FIRST_GRANT_BYTES = CONNECTION_WINDOW_BYTES - 65_535;

/** Rounds of writing after which a connection is taken to write for ever. */
const MOST_ROUNDS = 1_000;

/** For tests of the checks themselves. */
export interface CaseOptions {
  readonly tamper?: Tamper;
  /** How often the peer slips. @default by chance, often never */
  readonly carelessness?: number;
}

/**
 * One conversation from the handshake to the last stream, with slips of the peer's in some of them. Returns whether
 * the connection outlived it.
 */
export function converse(role: Role, draws: Draws, options: CaseOptions = {}): boolean {
  const owner = new Owner(draws);
  const talk = new Conversation(role, draws, owner, options.tamper);
  owner.owns(talk);
  const peer = new CarelessPeer(talk, draws);
  const carelessness = options.carelessness ?? draws.pick([0, 0, 0.02, 0.1, 0.3]);
  const first = draws.chance(carelessness / 2) ? peer.slip() : settings(...peer.settings());
  talk.sends(first);
  for (let left = draws.below(MOST_MOVES); left > 0 && !talk.isOver; left--) {
    if (draws.chance(0.4)) owner.act();
    if (talk.isOver) break;
    const bytes = draws.chance(carelessness) ? peer.slip() : peer.move();
    // What comes in one piece with it was thought of before it: that may be a fault of its own.
    const more = draws.chance(carelessness) ? peer.move() : new Uint8Array(0);
    if (bytes.length > 0) draws.note(`peer: ${frameText(bytes)}`);
    if (more.length > 0) draws.note(`and: ${frameText(more)}`);
    talk.sends(concat(bytes, more));
    peer.follows();
    if (draws.chance(0.05) && !talk.isOver) {
      drainOutput(talk);
      if (!talk.isOver) owner.checkNothingWaits();
    }
  }
  if (carelessness === 0 && !talk.endedByUs) {
    assert(!talk.isOver, "a peer without fault was refused");
  }
  settle(talk, owner, draws);
  return !talk.isOver;
}

/** Everything is brought to its end, and nothing may be left. */
function settle(talk: Conversation, owner: Owner, draws: Draws): void {
  const { connection } = talk;
  if (talk.isOver) return checkEnd(talk);
  owner.isEnding = true;
  if (!talk.isMidway) {
    owner.finish();
    checkCredit(talk);
    openAllWindows(talk);
    drainOutput(talk);
    if (!talk.isOver) owner.checkNothingWaits();
  }
  const byPeer = !talk.isMidway && draws.chance(0.5);
  for (const { id } of byPeer ? talk.state.open : []) {
    if (!talk.isOver) talk.sends(rstStream(id, ERROR_CODE.cancel));
  }
  if (talk.isOver) return checkEnd(talk);
  if (!byPeer) owner.resetAll();
  assertEquals(connection.openStreams, 0, "streams are left");
  assertEquals(talk.state.open.length, 0, "streams are left, by the model");
  for (const stream of talk.met.values()) {
    assertEquals([stream.closed, stream.log, stream.queued], [true, undefined, false]);
    connection.relay(stream, new FrameLog());
    connection.reset(stream, ERROR_CODE.cancel);
    connection.consumed(stream, 1_000_000);
  }
  assertEquals(connection.outputBytes, 0, "output for streams that are closed");
  if (talk.isMidway) return;
  talk.sends(concat(ping(200), settingsAck()));
  if (!talk.isOver) assertEquals(talk.state.pingsOwed, [], "a PING has no answer");
  assert(talk.isFlooded || !talk.isOver, "it lives");
  if (!talk.isOver) assertEquals(talk.state.settingsOwed, 0, "SETTINGS have no answer");
}

/** All that came was given back, but for what is not worth a frame yet (see ANNOUNCE_SHARE in `lib/connection`). */
function checkCredit({ state, connection }: Conversation): void {
  const owed = state.receivedBytes - state.announcedBytes + FIRST_GRANT_BYTES;
  assert(owed >= 0 && owed < CONNECTION_WINDOW_BYTES / 2, `the connection owes ${owed} bytes`);
  for (const { id, remoteEnded, recvOwed, recvWindow } of connection.streams()) {
    const stream = state.live(id);
    if (stream === undefined || remoteEnded) continue;
    assertEquals(recvOwed, stream.receivedBytes - stream.announcedBytes, `owed on stream ${id}`);
    assertEquals(recvWindow, stream.recvWindow, `the window of stream ${id}`);
    assert(recvOwed < state.our.initialWindowBytes / 2, `stream ${id} owes ${recvOwed} bytes`);
  }
}

function openAllWindows(talk: Conversation): void {
  const { state } = talk;
  const wide = 2 ** 28;
  if (state.sendWindow < wide) talk.sends(windowUpdate(0, wide));
  for (const { id, sendWindow } of state.open) {
    if (sendWindow < wide && !talk.isOver) talk.sends(windowUpdate(id, wide));
  }
}

/** What waits is written, until there is no more. */
function drainOutput(talk: Conversation): void {
  for (let round = 0; round < MOST_ROUNDS && !talk.isOver; round++) {
    talk.connection.drained();
    if (talk.connection.outputBytes === 0) return;
    talk.harvest();
  }
  if (!talk.isOver) throw new Error("Cannot bring the connection to rest: it goes on writing");
}

/** A connection that is over says nothing more, whatever it hears and is asked. */
function checkEnd(talk: Conversation): void {
  const { connection } = talk;
  talk.harvest();
  connection.receive(ping(1), talk.nowMs);
  connection.drained();
  for (const stream of talk.met.values()) {
    connection.reset(stream, ERROR_CODE.cancel);
    connection.consumed(stream, 1_000_000);
    if (stream.log !== undefined) connection.relay(stream, stream.log);
  }
  connection.drain();
  connection.finishDrain();
  assertEquals(connection.outputBytes, 0, "output after the end");
  assertEquals(connection.canOpen, false);
}
