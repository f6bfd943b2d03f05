/** Where the makers of the engines publish plugins: what operators allow unless told otherwise. */
export const officialHosts: readonly string[] = [
  "artifacts.opensearch.org",
  "artifacts.elastic.co",
  "github.com",
  "repo1.maven.org",
];
