#include <unistd.h>

#include <chrono>
#include <csignal>
#include <string>
#include <string_view>
#include <utility>

#include "cli/help/completion.h"
#include "cli/nearest_name.h"
#include "cli/storage/storage_objects.h"

namespace trainyard::cli {
namespace {

/// bash splits words at '=' and ':', so the line is split here, and what bash keeps is cut off the
/// candidates.
constexpr std::string_view kBash = R"script(# Completion of trainyard for bash.
_trainyard() {
  local line=${COMP_LINE:0:COMP_POINT} word rest kept
  local -a words=()
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  local current=${words[${#words[@]} - 1]}
  kept=${current%"${current##*[=:]}"}
  COMPREPLY=()
  while IFS=$'\t' read -r word rest; do
    case $word in
      :nospace) compopt -o nospace 2>/dev/null ;;
      :file) compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "${current#"$kept"}") ;;
      :directory) compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -d -- "${current#"$kept"}") ;;
      *) COMPREPLY+=("${word#"$kept"}") ;;
    esac
  done < <("${words[0]/#\~/$HOME}" __complete -- "${words[@]:1}" 2>/dev/null)
}
complete -F _trainyard trainyard
)script";

constexpr std::string_view kZsh = R"script(#compdef trainyard
# Completion of trainyard for zsh.
_trainyard() {
  local word help
  local -a plain described options
  while IFS=$'\t' read -r word help; do
    case $word in
      :nospace) options=(-S '') ;;
      :file) _files; return ;;
      :directory) _files -/; return ;;
      *) plain+=("$word"); described+=("${word}${help:+  -- $help}") ;;
    esac
  done < <("${words[1]/#\~/$HOME}" __complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)
  (( $#plain )) && compadd -l -d described $options -a plain
}
if [[ $funcstack[1] == _trainyard ]]; then
  _trainyard "$@"
else
  compdef _trainyard trainyard
fi
)script";

constexpr std::string_view kFish = R"script(# Completion of trainyard for fish.
function __trainyard_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for line in (eval $words[1] __complete -- (string escape -- $words[2..] "$current") 2>/dev/null)
        switch $line
            case ':nospace'
            case ':file'
                __fish_complete_path $current
            case ':directory'
                __fish_complete_directories $current
            case '*'
                echo $line
        end
    end
end
complete -c trainyard -f -a '(__trainyard_complete)'
)script";

using Names = Completion::Names;

/// A user who pressed the tab key waits for at most this.
constexpr std::chrono::seconds kServerDeadline{1};

void EndQuietly(int /*signal*/) { _exit(0); }

/// Ends this process after the deadline. What is not known by then is not offered; nothing was printed yet.
void LimitTime() {
  struct sigaction action{};
  action.sa_handler = EndQuietly;
  sigaction(SIGALRM, &action, nullptr);
  alarm(static_cast<unsigned>(kServerDeadline.count()));
}

/// "gs://buc" -> buckets; "gs://bucket/fol" -> folders and objects one level below.
std::vector<std::string> UrlsAt(const CommandSession& session, const std::string& begun) {
  constexpr std::string_view kScheme = "gs://";
  std::vector<std::string> urls;
  if (begun.size() < kScheme.size() || begun.find('/', kScheme.size()) == std::string::npos) {
    if (const auto buckets = ListBuckets(session))
      for (const std::string& bucket : *buckets) urls.push_back(std::string(kScheme) + bucket + "/");
    return urls;
  }
  const auto uri = ParseStorageUrl(begun);
  if (!uri) return urls;
  const auto listing = ListObjects(session, uri->bucket, uri->object, true);
  if (!listing) return urls;
  const std::string root = std::string(kScheme) + uri->bucket + "/";
  for (const std::string& folder : listing->folders) urls.push_back(root + folder);
  for (const Json& object : listing->objects) urls.push_back(root + TextAt(object, "name"));
  return urls;
}

std::vector<std::string> FetchNames(const Completion& completion, const SettingSources& sources,
                                    const Console& console) {
  if (completion.names == Names::kRuntimes) return RuntimeNames(completion.arguments, sources);
  LimitTime();
  const Result<ClientSession> opened = OpenSession({completion.arguments, sources, console}, "trainyard");
  if (!opened) return {};
  if (completion.names == Names::kObjects) return UrlsAt(opened->session, completion.begun);
  return JobNames(opened->session).value_or(std::vector<std::string>());
}

}  // namespace

ExitStatus PrintCompletionScript(const LocalSession& session) {
  const std::string& shell = session.arguments.positionals.front();
  session.console.Out(shell == "bash" ? kBash : shell == "zsh" ? kZsh : kFish);
  return 0;
}

int PrintCompletions(const std::vector<std::string>& words,
                     const std::vector<configuration::Key>& serve_flags, const SettingSources& sources,
                     const Console& console) {
  Completion completion = Complete(words, serve_flags);
  std::string out;
  if (completion.names == Names::kFiles) out += ":file\n";
  if (completion.names == Names::kDirectories) out += ":directory\n";
  if (completion.names == Names::kJobs || completion.names == Names::kRuntimes ||
      completion.names == Names::kObjects) {
    for (const std::string& name : FetchNames(completion, sources, console))
      if (name.starts_with(completion.begun)) completion.candidates.push_back({completion.ahead + name, ""});
  }
  for (const Completion::Candidate& candidate : completion.candidates) {
    if (completion.candidates.size() == 1 && (candidate.word.ends_with('/') || candidate.word.ends_with('(')))
      out += ":nospace\n";
    out += candidate.word + (candidate.help.empty() ? "" : "\t" + candidate.help) + "\n";
  }
  console.Out(out);
  return 0;
}

}  // namespace trainyard::cli
