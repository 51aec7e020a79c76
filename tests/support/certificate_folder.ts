import type { KeyPair } from "./certificates.ts";

/** A folder of PEM files, removed at the end of the scope. */
export class CertificateFolder implements Disposable {
  readonly path: string = Deno.makeTempDirSync({ prefix: "collapser-test-" });

  /** Writes a file; returns its path. */
  write(name: string, text: string): string {
    const path = `${this.path}/${name}`;
    Deno.writeTextFileSync(path, text);
    return path;
  }

  /** Writes `NAME.pem` and `NAME.key`; returns their paths. */
  writePair(name: string, { cert, key }: KeyPair): { cert: string; key: string } {
    return { cert: this.write(`${name}.pem`, cert), key: this.write(`${name}.key`, key) };
  }

  /** A path in it at which nothing is yet. */
  free(name: string): string {
    return `${this.path}/${name}`;
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.path, { recursive: true });
  }
}
