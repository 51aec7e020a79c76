import { SETTING } from "../../../lib/wire/mod.ts";
import type { BackendEnd } from "../../support/backend_end.ts";
import { raw, settings } from "../../support/frames.ts";
import { WIDE } from "../../support/peer_end.ts";
import type { Dialling } from "../../support/proxy_rig.ts";
import { resolvedName } from "./hosts.ts";
import type { Scene } from "./scene.ts";

const DIALLINGS: readonly Dialling[] = ["accepts", "refuses", "hangs"];

/** Streams that a GOAWAY may leave out. */
const FEW_STREAMS = 20;

/** More than any case comes to, of streams and of bytes. */
const MANY = 2 ** 24;

/** What lies between the proxy and its backends: dials, names, connections that come to their end. */
export class FickleNetwork {
  readonly #scene: Scene;
  /** The hosts that the name stands for; those of each entry where there is no name. */
  #named: readonly string[];
  /** Names have stood for these hosts at one time, and for others at another. */
  haveNamesChanged = false;
  /** There may be connections that nobody has greeted on: calls wait for them. */
  hasBeenSilent = false;

  constructor(scene: Scene) {
    this.#scene = scene;
    this.#named = scene.hosts.addresses;
    this.#name();
  }

  #name(): void {
    const { rig, hosts } = this.#scene;
    const name = resolvedName(hosts);
    if (name !== undefined) rig.names.set(name, this.#named);
  }

  /** What happens when a host is dialled is another thing from now on, for dials too that hang. */
  dialling(): void {
    const { draws, rig, hosts } = this.#scene;
    const dialling = draws.pick(DIALLINGS);
    const host = draws.pick(hosts.addresses);
    draws.note(`${host} ${dialling} connections`);
    rig.diallingAt.set(host, dialling);
    rig.answerDials();
  }

  /** A host takes connections and says nothing, or greets again. */
  greeting(): void {
    const { draws, rig, options } = this.#scene;
    const isSilent = rig.backendSettings !== "silent";
    this.hasBeenSilent = true;
    draws.note(isSilent ? "backends greet nobody" : "backends greet");
    rig.backendSettings = isSilent ? "silent" : options.backendSettings;
  }

  /** The name stands for other hosts, or nobody knows for which. */
  rename(): void {
    const { draws, rig, hosts } = this.#scene;
    const name = resolvedName(hosts);
    if (name === undefined) return;
    if (draws.chance(0.2)) rig.names.delete(name);
    else {
      this.#named = hosts.addresses.filter(() => draws.chance(0.6));
      this.#name();
    }
    this.haveNamesChanged = true;
    draws.note(`${name} stands for ${rig.names.get(name)?.join(" ") ?? "nobody"}`);
  }

  /** A host is gone without a word: only a PING tells. */
  async silence(): Promise<void> {
    const { draws, rig } = this.#scene;
    draws.note("backends fall silent");
    for (const backend of rig.backends) backend.answersPings = false;
    await rig.advance(60_000);
  }

  breakConnection(): void {
    const { draws, rig, answers } = this.#scene;
    if (rig.backends.length === 0) return;
    const backend = draws.pick(rig.backends);
    const [what, breaks] = draws.pick<[what: string, breaks: () => void]>([
      ["GOAWAY", () => answers.goAway(backend, draws.below(FEW_STREAMS))],
      ["GOAWAY above all streams", () => answers.goAway(backend, 2 ** 31 - 1)],
      ["GOAWAY after the last stream", () => answers.goAway(backend, lastId(backend))],
      [
        "GOAWAY before the last stream",
        () => answers.goAway(backend, Math.max(0, lastId(backend) - 1)),
      ],
      ["its end", () => answers.end(backend)],
      ["a reset", () => answers.end(backend, new Deno.errors.ConnectionReset("gone"))],
      ["a DATA frame of nobody's", () => backend.sends(raw(0, {}, draws.bytes(3)))],
      ["anything", () => this.#sendsAnything(backend)],
    ]);
    draws.note(`a connection of ${rig.hostOf(backend)} gets ${what}`);
    breaks();
  }

  /** Frames of any kind but those that replies are made of. */
  #sendsAnything(backend: BackendEnd): void {
    const { draws, answers } = this.#scene;
    const frames = Array.from({ length: draws.between(1, 4) }, () => {
      const streamId = draws.below(2 * backend.requests.length + 4);
      const payload = draws.bytes(draws.below(12));
      return raw(draws.between(2, 11), { flags: draws.below(64), streamId }, payload);
    });
    answers.sayAnything(backend, frames);
  }

  /** All hosts can be reached and take whatever comes, and the name stands for them; returns those that it stands for. */
  heal(): readonly string[] {
    const { rig, hosts } = this.#scene;
    rig.backendSettings = WIDE;
    for (const host of hosts.addresses) rig.diallingAt.set(host, "accepts");
    rig.answerDials();
    for (const backend of rig.backends) this.#widen(backend);
    if (this.#named.length === 0) this.#named = hosts.addresses;
    this.#name();
    return this.#named;
  }

  #widen(backend: BackendEnd): void {
    backend.answersPings = true;
    backend.sends(settings(
      ...WIDE,
      [SETTING.maxConcurrentStreams, MANY],
      [SETTING.maxHeaderListSize, MANY],
    ));
    if (this.#scene.options.backendSettings !== WIDE) backend.grants(MANY); // else it is wide
  }
}

function lastId({ requests }: BackendEnd): number {
  return requests.at(-1)?.id ?? 0;
}
