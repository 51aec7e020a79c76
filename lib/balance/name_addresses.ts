/** An IP version, by its number. */
type IpVersion = 4 | 6;

/**
 * The addresses of one name, of which those of one IP version are used at a time, IPv4 first: no name server tells which
 * A and AAAA records are the same backend, most likely all are, and with both in use each would count twice.
 */
export class NameAddresses {
  #all: readonly string[] = [];
  #preferred: IpVersion = 4;

  /** Takes what a name server said. The version in use stays so, while it has addresses. */
  become(addresses: readonly string[]): void {
    this.#all = addresses;
  }

  /** The addresses that are backends now. */
  get used(): readonly string[] {
    const preferred = this.#of(this.#preferred);
    return preferred.length > 0 ? preferred : this.#all;
  }

  /** Uses the other version from now on, where the name has both. */
  turn(): void {
    const other = this.#preferred === 4 ? 6 : 4;
    if (this.#of(other).length > 0) this.#preferred = other;
  }

  #of(version: IpVersion): readonly string[] {
    return this.#all.filter((address) => versionOf(address) === version);
  }
}

function versionOf(address: string): IpVersion {
  return address.includes(":") ? 6 : 4;
}
