/** Shells that `qm completion` writes a script for. */
export const shells = ["bash", "zsh", "fish", "powershell"] as const;

/** One of them. */
export type Shell = (typeof shells)[number];

/** What can be completed: a command of one or two words, and its flags. */
export interface Completable {
  readonly name: string;
  readonly summary: string;
  readonly flags: readonly string[];
}

/** A script that completes commands and flags of `qm`. It holds them all, so that completing starts no program. */
export function completionScript(shell: Shell, commands: readonly Completable[]): string {
  return scripts[shell](commands);
}

const scripts: Readonly<Record<Shell, (commands: readonly Completable[]) => string>> = {
  bash: (commands) => `# Completion of qm for bash: source <(qm completion bash)
${wordsFunction(commands)}
_qm() {
  local current=\${COMP_WORDS[COMP_CWORD]}
  COMPREPLY=($(compgen -W "$(_qm_words "\${COMP_WORDS[@]:1:COMP_CWORD-1}")" -- "$current"))
}
complete -o default -F _qm qm kubectl-qm`,
  zsh: (commands) => `#compdef qm kubectl-qm
# Completion of qm for zsh: source <(qm completion zsh)
${wordsFunction(commands)}
_qm() {
  local -a words_here
  words_here=(\${=$(_qm_words "\${words[@]:1:$((CURRENT-2))}")})
  compadd -- $words_here || _files
}
compdef _qm qm kubectl-qm`,
  fish: (commands) =>
    ["# Completion of qm for fish: qm completion fish | source", ...commands.flatMap(fishLines)].join("\n"),
  powershell: (
    commands,
  ) => `# Completion of qm for PowerShell: qm completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName qm, kubectl-qm -ScriptBlock {
  param($word, $ast, $position)
  $commands = @{
${[...cases(commands)].map(([before, words]) => `    '${before}' = '${words.join(" ")}'`).join("\n")}
  }
  $before = @($ast.CommandElements | Select-Object -Skip 1 | ForEach-Object { "$_" } | Where-Object { $_ -ne $word })
  $key = (($before | Select-Object -First 2) -join ' ')
  if (-not $commands.ContainsKey($key)) { $key = "$($before | Select-Object -First 1)" }
  "$($commands[$key])".Split(' ') | Where-Object { $_ -like "$word*" } | ForEach-Object {
    [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
  }
}`,
};

/** A shell function that prints what may follow the words before the cursor. */
function wordsFunction(commands: readonly Completable[]): string {
  const lines = [...cases(commands)].map(
    ([before, words]) => `    "${before}") echo "${words.join(" ")}" ;;`,
  );
  return `_qm_words() {
  case "$1 $2" in
${lines.filter((line) => /^ {4}"\S+ \S+"/.test(line)).join("\n")}
    *) case "$1" in
${lines.filter((line) => !/^ {4}"\S+ \S+"/.test(line)).join("\n")}
    esac ;;
  esac
}`;
}

/** What may follow, by the words before: nothing, the first word of a group, or a whole command. */
function cases(commands: readonly Completable[]): ReadonlyMap<string, readonly string[]> {
  const groups = Map.groupBy(commands, ({ name }) => name.split(" ")[0] ?? name);
  const found = new Map<string, readonly string[]>([["", [...groups.keys(), "help"]]]);
  for (const { name, flags } of commands) found.set(name, flags);
  for (const [first, members] of groups) {
    const seconds = members.flatMap(({ name }) => name.split(" ").slice(1));
    if (seconds.length > 0) found.set(first, seconds);
  }
  return found;
}

function fishLines({ name, summary, flags }: Completable): readonly string[] {
  const [first = "", second] = name.split(" ");
  const text = summary.replaceAll("'", "");
  const here =
    second === undefined
      ? `__fish_seen_subcommand_from ${first}`
      : `__fish_seen_subcommand_from ${first}; and __fish_seen_subcommand_from ${second}`;
  return [
    second === undefined
      ? `complete -c qm -n __fish_use_subcommand -a ${first} -d '${text}'`
      : `complete -c qm -n __fish_use_subcommand -a ${first}\ncomplete -c qm -n '__fish_seen_subcommand_from ${first}' -a ${second} -d '${text}'`,
    ...flags.map((flag) => `complete -c qm -n '${here}' -l ${flag.slice(2)}`),
  ];
}
