import { EngineError } from "../../src/engine/engine-error.ts";
import type { EngineRepository } from "../../src/engine/engine-facts.ts";
import { isRepositoryName } from "../../src/engine/repository-api.ts";

/** Types that an engine without further plugins knows. */
const types: ReadonlySet<string> = new Set(["fs", "url", "s3"]);

/** The snapshot repositories of a fake cluster. */
export class FakeRepositories {
  readonly #byName = new Map<string, EngineRepository>();

  list(): readonly EngineRepository[] {
    return [...this.#byName.values()];
  }

  put(repository: EngineRepository): void {
    if (!isRepositoryName(repository.name) || !types.has(repository.type)) throw refused("putRepository");
    this.#byName.set(repository.name, repository);
  }

  verify(name: string, unusable: ReadonlySet<string>): void {
    if (!this.#byName.has(name) || unusable.has(name)) throw refused("verifyRepository");
  }

  delete(name: string): void {
    if (!isRepositoryName(name)) throw refused("deleteRepository");
    this.#byName.delete(name);
  }
}

function refused(call: string): EngineError {
  return new EngineError(`${call}: HTTP 500`, { code: "invalid", status: 500, type: "repository_exception" });
}
