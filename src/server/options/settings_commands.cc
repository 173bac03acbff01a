#include "server/options/settings_commands.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "base/async/diagnostics.h"
#include "cli/console.h"
#include "cli/help/usage.h"
#include "engine/clusters.h"
#include "server/options/flag.h"
#include "server/options/settings_layers.h"

namespace trainyard::server {
namespace {

constexpr int kFailed = 1;
/// The exit status if the command line, or the file that it names, is wrong and nothing was done.
constexpr int kUsageStatus = 2;
const char kServe[] = "serve";
const char kCheck[] = "config.check";
const char kShow[] = "config.show";

int Fail(const char* command, const std::string& message) {
  cli::Console({}).Fail("(trainyard." + std::string(command) + ") " + message);
  return kFailed;
}

/// Prints the error and where the flags are listed.
int RefuseUsage(const Error& error, const char* command) {
  Fail(command, (error.field.empty() ? "" : "argument " + error.field + ": ") + error.message);
  cli::Console({}).Status("For all flags, run:\n  trainyard serve --help\n");
  return kUsageStatus;
}

/// Prints every mistake as a line "FILE:LINE: KEY: REASON", and an error that counts them.
int Refuse(const SettingsRefusal& refusal, const std::string& file, const char* command) {
  if (refusal.in_flags) return RefuseUsage(*refusal.in_flags, command);
  const std::size_t count = refusal.in_file.size();
  for (const configuration::Mistake& mistake : refusal.in_file)
    cli::Console({}).Status(Describe(mistake, file) + "\n");
  return Fail(command, file + " has " + (count == 1 ? "a mistake" : std::to_string(count) + " mistakes"));
}

/// Returns the options, or the exit status.
std::expected<ServeOptions, int> ReadWithFile(const std::vector<std::string>& words,
                                              const std::string& path) {
  const Result<ConfigurationFile> file = LoadConfigurationFile(path);
  if (!file) return std::unexpected(RefuseUsage(InvalidArgument("--config", file.error().message), kServe));
  if (!file->warning.empty()) Diagnose(DiagnosticLevel::kWarning, file->warning);
  auto layered = LayerSettings(words, &*file);
  if (layered) {
    Diagnose(DiagnosticLevel::kInfo, "settings of " + path + ": " + std::to_string(layered->file_keys));
    return std::move(layered->options);
  }
  (void)Refuse(layered.error(), path, kServe);
  return std::unexpected(kUsageStatus);
}

/// The file to show. Empty: none was named, and none is installed.
Result<std::optional<ConfigurationFile>> FileToShow(const std::string& named) {
  Result<ConfigurationFile> file = LoadConfigurationFile(named.empty() ? kConfigurationPath : named);
  if (file) return std::optional(*std::move(file));
  if (named.empty() && file.error().code == Code::kNotFound) return std::nullopt;
  return std::unexpected(file.error());
}

/// Asks the clusters whether their settings are correct.
Status CheckEngine(const engine::EngineOptions& engine) { return engine::Clusters::Check(engine); }

}  // namespace

bool ParseServeOptions(int argc, char** argv, ServeOptions& options, int& exit_status) {
  const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  auto read = ReadServeFlags(words);
  if (!read) {
    exit_status = RefuseUsage(read.error(), kServe);
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

int CheckConfiguration(const std::string& path) {
  const cli::Console console({});
  const Result<ConfigurationFile> file = LoadConfigurationFile(path.empty() ? kConfigurationPath : path);
  if (!file) return Fail(kCheck, file.error().message);
  if (!file->warning.empty()) console.Warn(file->warning);
  const auto layered = LayerSettings({}, &*file);
  if (!layered) return Refuse(layered.error(), file->path, kCheck);
  if (const Status engine = CheckEngine(layered->options.engine); !engine)
    return Fail(kCheck, file->path + ": " + engine.error().message);
  console.Out(file->path + ": " + std::to_string(layered->file_keys) +
              (layered->file_keys == 1 ? " setting" : " settings") + ", no mistakes\n");
  return 0;
}

int ShowConfiguration(const std::vector<std::string>& words) {
  const bool has_file = !words.empty() && !words.front().starts_with('-');
  const std::vector<std::string> flags(words.begin() + (has_file ? 1 : 0), words.end());
  const auto read = ReadServeFlags(flags);
  if (!read) return RefuseUsage(read.error(), kShow);
  const std::string in_flags = *read ? (*read)->config_file : "";
  if (has_file && !in_flags.empty())
    return RefuseUsage(InvalidArgument("--config", "the file is named already: " + words.front()), kShow);
  const Result<std::optional<ConfigurationFile>> file = FileToShow(has_file ? words.front() : in_flags);
  if (!file) return Fail(kShow, file.error().message);
  const ConfigurationFile* const layer = *file ? &**file : nullptr;
  const cli::Console console({});
  if (layer != nullptr && !layer->warning.empty()) console.Warn(layer->warning);
  const auto layered = LayerSettings(flags, layer);
  if (!layered) return Refuse(layered.error(), layer == nullptr ? "" : layer->path, kShow);
  console.Out(PrintEffective(layered->effective));
  return 0;
}

}  // namespace trainyard::server
