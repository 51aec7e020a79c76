import type { ProxyCounters } from "./counters.ts";
import type { ProxyObserver } from "./observer.ts";

/**
 * An observer that passes everything on to `observer`, whose own faults end there: one that throws must not end a
 * connection, or keep a backend from being asked for again. Faults of ours are counted in `counters`.
 */
export function containedObserver(
  observer: ProxyObserver,
  counters: Pick<ProxyCounters, "faults">,
): ProxyObserver {
  function tell(told: () => void): void {
    try {
      told();
    } catch (error) {
      tellOfFault(observer, error);
    }
  }
  return {
    methodJudged: (method, verdict, mode) =>
      tell(() => observer.methodJudged(method, verdict, mode)),
    couldHaveCollapsed: (method) => tell(() => observer.couldHaveCollapsed(method)),
    dependsOnCaller: (method, names, mode) =>
      tell(() => observer.dependsOnCaller(method, names, mode)),
    keptApartBy: (method, name) => tell(() => observer.keptApartBy(method, name)),
    connectionFailed: (side, fault, remote) =>
      tell(() => observer.connectionFailed(side, fault, remote)),
    goneAway: (side, said, remote) => tell(() => observer.goneAway(side, said, remote)),
    turnedAway: (backend, why) => tell(() => observer.turnedAway(backend, why)),
    notDescribed: (service, why) => tell(() => observer.notDescribed(service, why)),
    backendUp: (backend) => tell(() => observer.backendUp(backend)),
    backendDown: (backend, why) => tell(() => observer.backendDown(backend, why)),
    backendUnreachable: (backend) => tell(() => observer.backendUnreachable?.(backend)),
    backendEjected: (backend, why) => tell(() => observer.backendEjected(backend, why)),
    backendReturned: (backend) => tell(() => observer.backendReturned(backend)),
    faultOfOurs(what, error) {
      counters.faults++;
      tell(() => observer.faultOfOurs(what, error));
    },
  };
}

function tellOfFault(observer: ProxyObserver, error: unknown): void {
  try {
    observer.faultOfOurs("telling the observer", error);
  } catch {
    reportError(error); // the process's own handlers are all that is left
  }
}
