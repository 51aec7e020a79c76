/**
 * What people and dashboards see of the sidecar: metrics and the log.
 *
 * Owns the names, the help texts and the text format of the metrics, which are read off the proxy's plain counters
 * when somebody scrapes ({@linkcode createMetrics}), and the lines of the log ({@linkcode createLogger},
 * {@linkcode loggingObserver}). prom-client enters through `registry.ts` alone.
 *
 * Invariants:
 * - nothing here runs on the way of a call: counting is the proxy's, and costs it an addition;
 * - the log never holds the event loop up. It goes to standard error through a bounded queue; lines that nobody reads
 *   in time are dropped, counted and reported;
 * - every line is one line: no value, whoever chose it, can end it, pass for a field or reach a terminal as a command;
 * - label values and what is named in the log are bounded, and repetitive lines come at most once a second;
 * - counters only grow, and equal series never appear twice in one scrape.
 *
 * Refuses: to read the environment, to listen (that is `admin`), and process metrics that would need every permission
 * to be true: a series that cannot be read is left out instead of being 0.
 *
 * @module
 */
export type { Fields, FieldValue, LogLevel } from "./line_format.ts";
export { createLogger, type LogFormat, type Logger, type LoggerOptions } from "./logger.ts";
export { createMetrics, type Metrics } from "./metrics.ts";
export { loggingObserver } from "./observer.ts";
export { RateLimit } from "./rate_limit.ts";
export type { MetricsSource, PolicyFigures } from "./source.ts";
