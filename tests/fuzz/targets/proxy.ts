import { ProxyCase } from "../proxy/proxy_case.ts";
import type { Target } from "../run.ts";

export const proxy: Target = {
  name: "proxy",
  about: "the whole proxy in memory: callers and a backend that do anything, and time",
  weight: 5,
  run: (draws) => new ProxyCase(draws).run(),
};
