#include "cli/help/usage.h"

#include <algorithm>
#include <string_view>

#include "cli/gcloud/common_flags.h"
#include "cli/version.h"

namespace trainyard::cli {
namespace {

constexpr std::string_view kDescription = R"(.SH DESCRIPTION
.B trainyard serve
runs a training service that speaks the API of Google's AI Platform Training.
All other commands are its client: they submit jobs, follow them, and copy files.
.PP
The commands print what gcloud prints.
Scripts may also write
.B trainyard ai-platform jobs
where they wrote
.BR "gcloud ai-platform jobs" .
)";

constexpr std::string_view kEnd = R"(.SH ENVIRONMENT
.TP
.B TRAINYARD_SERVER
Address of the server, if \-\-server is not given.
.TP
.B TRAINYARD_DATA
Data directory of a server, if \-\-data is not given.
.TP
.B CLOUDSDK_CORE_PROJECT
Project, if \-\-project is not given.
.TP
.B NO_COLOR
If it is not empty, nothing is printed in colour.
.SH EXIT STATUS
0: success.
1: the command failed.
2: the command line is wrong.
.B "jobs shell"
and
.B "local train"
end with the status of the program that they run.
.SH FILES
.TP
.I /etc/trainyard/config.yaml
Settings of the installed service; \fBtrainyard config check\fR finds their mistakes.
.TP
.I ~/.local/share/trainyard
The data directory of a server of this account.
.SH SEE ALSO
.BR gcloud (1)
)";

/// Text as roff shows it unchanged.
std::string Roff(std::string_view text) {
  std::string out = text.starts_with('.') || text.starts_with('\'') ? "\\&" : "";
  for (const char c : text) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if (c == '`')
      out += "\\(ga";
    else if (c == '\'')
      out += "\\(aq";
    else if (c == '~')
      out += "\\(ti";
    else if (c == '^')
      out += "\\(ha";
    else
      out += c;
  }
  return out;
}

std::string Flag(std::string_view name, std::string_view metavar, std::string_view help) {
  const std::string value = metavar.empty() ? "" : "=\\fI" + Roff(metavar) + "\\fR";
  return ".TP\n\\fB" + Roff(name) + "\\fR" + value + "\n" + Roff(help) + "\n";
}

std::string Examples(std::string_view examples) {
  if (examples.empty()) return "";
  std::string out = ".PP\nFor example:\n.PP\n.nf\n.RS\n";
  while (!examples.empty()) {
    const std::size_t end = std::min(examples.find('\n'), examples.size());
    out += "trainyard " + Roff(examples.substr(0, end)) + "\n";
    examples.remove_prefix(std::min(end + 1, examples.size()));
  }
  return out + ".RE\n.fi\n";
}

std::string Section(const CommandSpec& command) {
  std::string out = ".SS trainyard " + Roff(Synopsis(command)) + "\n" + Roff(command.summary) + "\n";
  for (const FlagSpec& flag : command.flags)
    if (!flag.everywhere && flag.name != "--help") out += Flag(flag.name, flag.metavar, flag.help);
  return out + Examples(command.examples);
}

std::string ServeSection(const std::vector<configuration::Key>& flags) {
  std::string out = ".SS trainyard serve [optional flags]\n" + Roff(kServeSummary) + "\n";
  for (const configuration::Key& flag : flags) {
    const bool depends_on_machine = flag.fallback.starts_with('/');
    const std::string fallback =
        flag.fallback.empty() || depends_on_machine ? "" : " Default: " + flag.fallback + ".";
    out += Flag(flag.flag, flag.metavar, flag.help + fallback);
  }
  return out + Examples(kServeExamples);
}

}  // namespace

std::string PrintManPage(const std::vector<configuration::Key>& serve_flags) {
  std::string out = ".TH TRAINYARD 1 \"\" \"trainyard " + Roff(kVersion) + "\"\n.SH NAME\n" +
                    "trainyard \\- a training service and its client\n.SH SYNOPSIS\n" +
                    ".B trainyard\n.I COMMAND\n[\\fIflags\\fR]\n";
  out += std::string(kDescription) + ".SH COMMANDS\n";
  for (const Command* command : Commands()) out += Section(command->spec);
  out += ServeSection(serve_flags) +
         ".SH GLOBAL FLAGS\nAll commands but \\fBserve\\fR and \\fBconfig show\\fR accept these flags.\n";
  for (const FlagSpec& flag : kCommonFlags) out += Flag(flag.name, flag.metavar, flag.help);
  return out + std::string(kEnd);
}

}  // namespace trainyard::cli
