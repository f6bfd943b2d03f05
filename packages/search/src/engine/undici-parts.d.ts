// The pool's own file, as in the runtime: undici's front door loads ten times as much.
declare module "undici/lib/dispatcher/pool.js" {
  import { Pool } from "undici";

  export default Pool;
}
