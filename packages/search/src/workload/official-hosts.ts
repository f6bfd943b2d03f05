/** Where the makers of the engines publish plugins: what operators allow by default. */
export const officialHosts: readonly string[] = [
  "artifacts.opensearch.org",
  "artifacts.elastic.co",
  "github.com",
  "repo1.maven.org",
];
