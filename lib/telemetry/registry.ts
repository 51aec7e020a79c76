import { Counter, Gauge, Registry } from "prom-client";

/** Values of a metric's labels; all of its names, every time. */
export type Labels = Readonly<Record<string, string>>;

/** A histogram as it is counted: `counts[i]` fell into the bucket up to `bounds[i]` alone, the last one beyond all. */
export interface HistogramReading {
  /** Upper bounds, ascending. */
  readonly bounds: readonly number[];
  /** Counts of the buckets: one more than `bounds`. */
  readonly counts: ArrayLike<number>;
  readonly sum: number;
}

/** What a metric is, and where its values come from. */
export interface MetricSpec<T> {
  /** What the metric counts, and in which unit, for whoever reads a dashboard. */
  readonly help: string;
  readonly labels?: readonly string[];
  /** Puts every series that exists; called on every scrape. A counter's equal labels add up. */
  collect(put: (value: T, labels?: Labels) => void): void | Promise<void>;
}

/** The one type of a sample that prom-client's registry asks a metric for. */
interface Sample {
  readonly metricName: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

/** Metrics whose values are read where they are counted, at the moment somebody asks. */
export class MetricSet {
  readonly #registry = new Registry();

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** Everything in the text format. Rejects when a `collect` does. */
  text(): Promise<string> {
    return this.#registry.metrics();
  }

  counter(name: string, spec: MetricSpec<number>): void {
    new Counter({
      ...configuration(name, spec),
      registers: [this.#registry],
      collect() {
        // A counter cannot be set; what it had is what it gets again, and more.
        this.reset();
        return spec.collect((value, labels = {}) => this.inc(labels, value));
      },
    });
  }

  gauge(name: string, spec: MetricSpec<number>): void {
    new Gauge({
      ...configuration(name, spec),
      registers: [this.#registry],
      collect() {
        this.reset();
        return spec.collect((value, labels = {}) => this.set(labels, value));
      },
    });
  }

  histogram(name: string, spec: MetricSpec<HistogramReading>): void {
    const metric = {
      name,
      help: spec.help,
      type: "histogram",
      aggregator: "sum",
      async get() {
        const values: Sample[] = [];
        await spec.collect((reading, labels = {}) => addSamples(values, { name, reading, labels }));
        return { ...this, values };
      },
    };
    // prom-client's Histogram counts for itself and cannot be handed buckets. Its registry needs no more of a
    // metric than the above, which its types do not say.
    this.#registry.registerMetric(metric as unknown as Gauge);
  }
}

function configuration(name: string, spec: MetricSpec<number>) {
  return { name, help: spec.help, labelNames: [...spec.labels ?? []] };
}

/** Adds the samples of a histogram, whose buckets are cumulative in the text format, and end with all there is. */
function addSamples(
  into: Sample[],
  metric: { name: string; reading: HistogramReading; labels: Labels },
): void {
  const { name, reading: { bounds, counts, sum }, labels } = metric;
  let total = 0;
  for (let i = 0; i <= bounds.length; i++) {
    total += counts[i] ?? 0;
    const le = bounds[i] ?? "+Inf";
    into.push({ metricName: `${name}_bucket`, labels: { le, ...labels }, value: total });
  }
  into.push({ metricName: `${name}_sum`, labels, value: sum });
  into.push({ metricName: `${name}_count`, labels, value: total });
}
