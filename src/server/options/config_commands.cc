#include "server/options/config_commands.h"

#include <memory>
#include <optional>
#include <utility>

#include "cli/console.h"
#include "cli/help/usage.h"
#include "engine/slurm/check_cluster.h"
#include "server/options/parse_serve.h"
#include "server/options/serve_usage.h"

namespace trainyard::server {
namespace {

constexpr int kFailed = 1;
const char kCheck[] = "config.check";
const char kShow[] = "config.show";

int Fail(const char* command, const std::string& message) {
  cli::Console({}).Fail("(trainyard." + std::string(command) + ") " + message);
  return kFailed;
}

int Refuse(const SettingsRefusal& refusal, const std::string& path, const char* command) {
  if (refusal.in_flags) return RefuseUsage(*refusal.in_flags, command);
  PrintRefusal(refusal, path, command);
  return kFailed;
}

/// The file to show. Empty: none was named, and none is installed.
Result<std::optional<ConfigurationFile>> FileToShow(const std::string& named) {
  Result<ConfigurationFile> file = LoadConfigurationFile(named.empty() ? kConfigurationPath : named);
  if (file) return std::optional(*std::move(file));
  if (named.empty() && file.error().code == Code::kNotFound) return std::nullopt;
  return std::unexpected(file.error());
}

/// Asks the cluster whether its settings are correct.
Status CheckEngine(const slurm::EngineOptions& engine) {
  if (!slurm::UsesSlurm(engine)) return {};
  TY_TRY(const std::unique_ptr<engine::SlurmClient> client, engine::MakeSlurmClient(engine));
  if (const auto nodes = engine::CheckCluster(engine, *client); !nodes) return std::unexpected(nodes.error());
  return {};
}

}  // namespace

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
