#include "server/options/parse_serve.h"

#include <algorithm>
#include <utility>

#include "base/async/diagnostics.h"
#include "cli/console.h"
#include "cli/help/usage.h"
#include "server/options/serve_usage.h"

namespace trainyard::server {
namespace {

/// Returns the options, or the exit status.
std::expected<ServeOptions, int> ReadWithFile(const std::vector<std::string>& words,
                                              const std::string& path) {
  const Result<ConfigurationFile> file = LoadConfigurationFile(path);
  if (!file) return std::unexpected(RefuseUsage(InvalidArgument("--config", file.error().message)));
  if (!file->warning.empty()) Diagnose(DiagnosticLevel::kWarning, file->warning);
  auto layered = LayerSettings(words, &*file);
  if (layered) {
    Diagnose(DiagnosticLevel::kInfo, "settings of " + path + ": " + std::to_string(layered->file_keys));
    return std::move(layered->options);
  }
  if (layered.error().in_flags) return std::unexpected(RefuseUsage(*layered.error().in_flags));
  PrintRefusal(layered.error(), path, "serve");
  return std::unexpected(kUsageStatus);
}

}  // namespace

void PrintRefusal(const SettingsRefusal& refusal, const std::string& file, const std::string& command) {
  const cli::Console console({});
  const std::size_t count = refusal.in_file.size();
  for (const configuration::Mistake& mistake : refusal.in_file)
    console.Status(Describe(mistake, file) + "\n");
  console.Fail("(trainyard." + command + ") " + file + " has " +
               (count == 1 ? "a mistake" : std::to_string(count) + " mistakes"));
}

bool ParseServeOptions(int argc, char** argv, ServeOptions& options, int& exit_status) {
  const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  auto read = ReadServeFlags(words);
  if (!read) {
    exit_status = RefuseUsage(read.error());
    return false;
  }
  if (!*read) {
    cli::Console({}).Out(cli::PrintServeHelp(DescribeServeFlags()));
    exit_status = 0;
    return false;
  }
  options = **std::move(read);
  if (options.config_file.empty()) return true;
  auto configured = ReadWithFile(words, options.config_file);
  if (configured)
    options = *std::move(configured);
  else
    exit_status = configured.error();
  return configured.has_value();
}

}  // namespace trainyard::server
