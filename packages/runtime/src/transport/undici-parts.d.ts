// undici's front door loads WebSockets, caches, mocks and cookies too: 10 MB of an idle process. This is the pool's own file,
// of the version that package.json pins.
declare module "undici/lib/dispatcher/pool.js" {
  import { Pool } from "undici";

  export default Pool;
}
