import { STATUS } from "../../grpc/mod.ts";
import { type Sidecar, startSidecar } from "../../sidecar/mod.ts";
import { createLogger } from "../../telemetry/mod.ts";
import type { Address } from "../../transport/mod.ts";
import type { FrameLog } from "../../wire/mod.ts";
import { type Client, keyBody, openClient } from "../client/mod.ts";
import { type OnAnswer, Places } from "./places.ts";

const LOOPBACK = "127.0.0.1";

/** Time between two looks at whether every backend answers, and the longest that this may take. */
const LOOK_EVERY_MS = 50;
const READY_WITHIN_MS = 10_000;

/** A number that no measured call has: its answer must not be in a cache. */
const FIRST_QUESTION = 1_000_000_000;

/** A backend, or a proxy before the backends, by name and address. */
export interface NamedAddress extends Address {
  readonly name: string;
}

/** The conditions that every system is given, so that they are compared and nothing else. */
export interface StallField {
  readonly shards: readonly NamedAddress[];
  /** Path of the method that is called. */
  readonly method: string;
  /** The metadata that names the backend a call is for. */
  readonly header: string;
  readonly deadlineMs: number;
  /** Pool of each backend: calls at once, and calls that wait. A pool for all has as many as all of these. */
  readonly places: number;
  readonly waiting: number;
}

/** The settings that a sidecar before the backends is to have; the rest is as it comes. */
export interface SidecarWishes {
  readonly backends: readonly NamedAddress[];
  readonly header: string;
  readonly maxConcurrent: number;
  readonly maxPending: number;
  readonly outlierDetection: boolean;
}

/** Makes the settings of a sidecar on free ports of the loopback address. */
export type SettingsFor = (wishes: SidecarWishes) => Parameters<typeof startSidecar>[0];

/** A way from callers to backends, ready to be measured. */
export interface OpenSystem {
  /** Positional, since it runs for every call: the nth backend, the request, when it was due. */
  call(shard: number, body: FrameLog, dueMs: number, onAnswer: OnAnswer): void;
  close(): Promise<void>;
}

/** A way from callers to backends that is measured. */
export interface System {
  readonly name: string;
  /** The things between callers and backends, in words. */
  readonly about: string;
  open(field: StallField): Promise<OpenSystem>;
}

/** A client for each backend, with a pool of its own. */
export const DIRECT: System = {
  name: "direct",
  about: "a client with a pool of its own for each backend, nothing in between",
  async open(field) {
    const { shards, places, waiting, method: path, deadlineMs } = field;
    const clients: Client[] = [];
    const close = () => closeAll(clients);
    try {
      for (const address of shards) clients.push(await openClient(address));
    } catch (error) {
      await close();
      throw error;
    }
    const pools = clients.map((client) => new Places(client, { places, waiting }));
    const methods = clients.map((client, i) =>
      client.method({ path, deadlineMs, metadata: metadataFor(field, i) })
    );
    return await whenReady(field, {
      call: (shard, body, dueMs, onAnswer) =>
        pools[shard]!.call(methods[shard]!, body, dueMs, onAnswer),
      close,
    });
  },
};

/** A sidecar in this process: as it comes, or with one pool for all backends. */
export function collapser(
  settingsFor: SettingsFor,
  { sharedPool }: { sharedPool: boolean },
): System {
  return {
    name: sharedPool ? "shared-pool" : "collapser",
    about: sharedPool
      ? "the same with one pool and one queue for all, and nobody left out"
      : "as shipped: a wall around each backend, those that fail left out",
    async open(field) {
      const { shards, header, places, waiting } = field;
      const times = sharedPool ? shards.length : 1;
      const log = createLogger({ level: "error", format: "console" });
      const settings = settingsFor({
        backends: shards,
        header,
        maxConcurrent: places * times,
        maxPending: waiting * times,
        outlierDetection: !sharedPool,
      });
      const sidecar = startSidecar(settings, log, { sharedPool });
      const end = async () => void await Promise.all([sidecar.stop(), log.flush()]);
      return await throughProxy(field, { address: ownAddress(sidecar), end });
    },
  };
}

/** A proxy of somebody else's at its address. */
export function otherProxy({ name, ...address }: NamedAddress): System {
  return {
    name,
    about: "as it stands at its address",
    open: (field) => throughProxy(field, { address, end: () => Promise.resolve() }),
  };
}

function ownAddress({ grpcPort }: Sidecar): Address {
  return { host: LOOPBACK, port: grpcPort };
}

async function throughProxy(
  field: StallField,
  { address, end }: { address: Address; end: () => Promise<void> },
): Promise<OpenSystem> {
  let client: Client;
  try {
    client = await openClient(address);
  } catch (error) {
    await end();
    throw error;
  }
  const { method: path, deadlineMs } = field;
  const methods = field.shards.map((_, i) =>
    client.method({ path, deadlineMs, metadata: metadataFor(field, i) })
  );
  return await whenReady(field, {
    call: (shard, body, dueMs, onAnswer) =>
      void client.call(
        methods[shard]!,
        body,
        ({ status, endedMs }) => onAnswer(status, endedMs),
        dueMs,
      ),
    async close() {
      await client.close();
      await end();
    },
  });
}

function metadataFor({ header, shards }: StallField, shard: number) {
  return [[header, shards[shard]!.name]] as const;
}

/** The system, once each backend has answered through it. Rejects, having closed it, when one does not. */
async function whenReady(field: StallField, system: OpenSystem): Promise<OpenSystem> {
  let question = FIRST_QUESTION;
  const ask = (shard: number) =>
    new Promise<number>((resolve) =>
      system.call(shard, keyBody(question++), performance.now(), resolve)
    );
  const giveUpMs = performance.now() + READY_WITHIN_MS;
  for (const [shard, { name }] of field.shards.entries()) {
    while (await ask(shard) !== STATUS.ok) {
      if (performance.now() > giveUpMs) {
        await system.close();
        throw new Error(`no call to ${name} was answered within ${READY_WITHIN_MS / 1_000} s`);
      }
      await new Promise((resume) => setTimeout(resume, LOOK_EVERY_MS));
    }
  }
  return system;
}

async function closeAll(clients: readonly Client[]): Promise<void> {
  await Promise.all(clients.map((client) => client.close()));
}
