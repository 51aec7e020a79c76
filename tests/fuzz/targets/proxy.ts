import { ProxyCase } from "../proxy/proxy_case.ts";
import type { Target } from "../run.ts";

export const proxy: Target = {
  name: "proxy",
  about: "the whole proxy in memory: callers and backends that do anything, and time",
  weight: 5,
  run: (draws) => new ProxyCase(draws).run(),
};
