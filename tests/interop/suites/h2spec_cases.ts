/** The sections of h2spec 2.2.1, strict cases included, and how many cases each has: a run without some is not in full. */
export const SECTIONS: Readonly<Record<string, number>> = {
  "generic/1": 1,
  "generic/2": 5,
  "generic/3.1": 3,
  "generic/3.2": 3,
  "generic/3.3": 5,
  "generic/3.4": 1,
  "generic/3.5": 1,
  "generic/3.7": 1,
  "generic/3.8": 1,
  "generic/3.9": 2,
  "generic/3.10": 2,
  "generic/4": 4,
  "generic/5": 15,
  "http2/3.5": 2,
  "http2/4.1": 3,
  "http2/4.2": 3,
  "http2/4.3": 3,
  "http2/5.1": 13,
  "http2/5.1.1": 2,
  "http2/5.1.2": 1,
  "http2/5.3.1": 2,
  "http2/5.4.1": 2,
  "http2/5.5": 2,
  "http2/6.1": 3,
  "http2/6.2": 4,
  "http2/6.3": 2,
  "http2/6.4": 3,
  "http2/6.5": 3,
  "http2/6.5.2": 5,
  "http2/6.5.3": 2,
  "http2/6.7": 4,
  "http2/6.8": 1,
  "http2/6.9": 3,
  "http2/6.9.1": 3,
  "http2/6.9.2": 3,
  "http2/6.10": 6,
  "http2/7": 2,
  "http2/8.1": 1,
  "http2/8.1.2": 1,
  "http2/8.1.2.1": 4,
  "http2/8.1.2.2": 2,
  "http2/8.1.2.3": 7,
  "http2/8.1.2.6": 2,
  "http2/8.2": 1,
  "hpack/2.3.3": 1,
  "hpack/4.2": 1,
  "hpack/5.2": 3,
  "hpack/6.1": 1,
  "hpack/6.3": 1,
};

/** What h2spec asks: as published, or as a gRPC client would. */
export type Variant = "plain" | "grpc";

/** Ids of all its cases. */
export const IDS: readonly string[] = Object.entries(SECTIONS).flatMap(([section, cases]) =>
  Array.from({ length: cases }, (_, n) => `${section}/${n + 1}`)
);

const NO_DATA =
  "it wants DATA in the answer: a request that is not gRPC is refused in one HEADERS frame";

/**
 * Cases that say nothing about a server of gRPC alone, with the reason. All of them pass as gRPC calls, and the requests
 * that h2spec sends by itself are none: they have no content-type.
 */
export const EXCEPTIONS: Readonly<Record<Variant, Readonly<Record<string, string>>>> = {
  grpc: {},
  plain: {
    "generic/2/2": NO_DATA,
    "generic/2/3": NO_DATA,
    "http2/5.1.2/1":
      "it wants streams to stay open: a request that is not gRPC is over with its refusal",
  },
};
