/**
 * The dashboard as the tests read it.
 *
 * @module
 */

const FILE = new URL("../../manifests/dashboards/collapser.json", import.meta.url);

/** What Grafana puts in the place of its variables, when everything is chosen. */
const VARIABLES: Readonly<Record<string, string>> = {
  $__rate_interval: "1m",
  $__range: "1m",
  $namespace: ".*",
  $service: ".*",
  $pod: ".*",
  $method: ".*",
};

export interface Target {
  readonly refId: string;
  readonly expr: string;
  readonly legendFormat: string;
  readonly instant?: boolean;
  readonly format?: string;
}

/** A panel, as far as the tests look into it. */
export interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly datasource?: { readonly uid: string };
  readonly gridPos: {
    readonly x: number;
    readonly y: number;
    readonly w: number;
    readonly h: number;
  };
  readonly targets?: readonly Target[];
  readonly fieldConfig?: { readonly defaults: { readonly unit?: string } };
}

export interface Variable {
  readonly name: string;
  readonly type: string;
  /** Asks Prometheus for the labels to choose from. */
  readonly definition?: string;
}

export interface Dashboard {
  readonly uid: string;
  readonly title: string;
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly Variable[] };
  readonly annotations: {
    readonly list: readonly { readonly name: string; readonly expr?: string }[];
  };
}

/** A query with where it stands. */
export interface Query {
  readonly where: string;
  readonly expr: string;
  readonly legend: string;
}

export function readDashboard(): Dashboard {
  return JSON.parse(Deno.readTextFileSync(FILE));
}

/** The panels that show something: all but the rows. */
export function panelsOf({ panels }: Dashboard): Panel[] {
  return panels.filter(({ type }) => type !== "row");
}

/** Every query of panels and annotations, with its variables put in. */
export function queriesOf(dashboard: Dashboard): Query[] {
  const ofPanels = panelsOf(dashboard).flatMap(({ title, targets = [] }) =>
    targets.map(({ refId, expr, legendFormat }) => ({
      where: `${title} ${refId}`,
      expr: filled(expr),
      legend: legendFormat,
    }))
  );
  const ofAnnotations = dashboard.annotations.list.flatMap(({ name, expr }) =>
    expr === undefined ? [] : [{ where: `annotation ${name}`, expr: filled(expr), legend: "" }]
  );
  return [...ofPanels, ...ofAnnotations];
}

/** A query as Prometheus gets it. Throws for a variable that nobody sets. */
export function filled(expr: string): string {
  return expr.replace(/\$[a-z_]+/g, (name) => {
    const value = VARIABLES[name];
    if (value === undefined) throw new Error(`Cannot fill ${name} in ${JSON.stringify(expr)}`);
    return value;
  });
}
