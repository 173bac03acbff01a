#include <string>
#include <string_view>

#include "cli/help/completion.h"

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

}  // namespace

ExitStatus PrintCompletionScript(const LocalSession& session) {
  const std::string& shell = session.arguments.positionals.front();
  session.console.Out(shell == "bash" ? kBash : shell == "zsh" ? kZsh : kFish);
  return 0;
}

}  // namespace trainyard::cli
