import type { ProxyObserver } from "./observer.ts";

/**
 * An observer that passes everything on to `observer`, whose own faults end there: one that throws must not end a
 * connection, or keep a backend from being asked for again.
 */
export function containedObserver(observer: ProxyObserver): ProxyObserver {
  function tell(told: () => void): void {
    try {
      told();
    } catch (error) {
      tellOfFault(observer, error);
    }
  }
  return {
    methodJudged: (method, verdict) => tell(() => observer.methodJudged(method, verdict)),
    couldHaveCollapsed: (method) => tell(() => observer.couldHaveCollapsed(method)),
    keptApartBy: (method, name) => tell(() => observer.keptApartBy(method, name)),
    connectionFailed: (side, fault, remote) =>
      tell(() => observer.connectionFailed(side, fault, remote)),
    backendUp: (backend) => tell(() => observer.backendUp(backend)),
    backendDown: (backend, why) => tell(() => observer.backendDown(backend, why)),
    backendEjected: (backend, why) => tell(() => observer.backendEjected(backend, why)),
    backendReturned: (backend) => tell(() => observer.backendReturned(backend)),
    faultOfOurs: (what, error) => tell(() => observer.faultOfOurs(what, error)),
  };
}

function tellOfFault(observer: ProxyObserver, error: unknown): void {
  try {
    observer.faultOfOurs("telling the observer", error);
  } catch {
    reportError(error); // the process's own handlers are all that is left
  }
}
