#include "programs/runtimes/image_packages.h"

#include <unistd.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include "base/async/file.h"
#include "base/process/variables.h"
#include "programs/environment/content_hash.h"
#include "programs/environment/package_layer.h"
#include "programs/environment/pip_settings.h"
#include "programs/environment/tool_failure.h"
#include "programs/image/cache.h"
#include "programs/runtimes/google_channels.h"
#include "programs/runtimes/image_packages_files.h"
#include "programs/sandbox/namespaces/device_files.h"
#include "rules/container/program.h"

namespace trainyard::replica {

namespace {

namespace fs = std::filesystem;

/// The path at which the container sees the staged files. Later its /tmp is the replica's own.
constexpr const char* kStagedInContainer = "/tmp/trainyard-packages";
constexpr int kNoPipStatus = 3;
constexpr std::size_t kLineBytesMax = 64 << 10;
constexpr std::size_t kPipConfBytesMax = std::size_t{1} << 20;

/// Whether a variable is one of pip's, or one about access to the network.
bool ConcernsPip(std::string_view name) {
  static const std::set<std::string_view> kProxies = {"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY",
                                                      "http_proxy", "https_proxy", "no_proxy", "all_proxy"};
  return name.starts_with("PIP_") || kProxies.contains(name);
}

/// pip's configuration files: the machine's, the user's, and the one that a variable names.
std::vector<std::string> PipConfigurations(const std::map<std::string, std::string>& variables) {
  std::vector<std::string> texts;
  const auto add = [&](const fs::path& file) {
    if (auto text = ReadFile(file, kPipConfBytesMax)) texts.push_back(*std::move(text));
  };
  add("/etc/pip.conf");
  if (const auto home = variables.find("HOME"); home != variables.end()) {
    add(fs::path(home->second) / ".pip/pip.conf");
    add(fs::path(home->second) / ".config/pip/pip.conf");
  }
  if (const auto file = variables.find("PIP_CONFIG_FILE"); file != variables.end()) add(file->second);
  return texts;
}

/// Binds for the directories in which pip is configured to find packages.
std::vector<FileView::Bind> LinkFolders(const std::vector<std::string>& configurations,
                                        const std::map<std::string, std::string>& variables) {
  std::string all;
  for (const std::string& text : configurations) all += text + "\n";
  const auto settings = environment::UvSettingsFromPip(all, variables);
  std::vector<FileView::Bind> binds;
  const auto links = settings.find("UV_FIND_LINKS");
  if (links == settings.end()) return binds;
  std::string words = links->second;
  for (char& c : words) c = c == ',' ? ' ' : c;
  std::istringstream list(words);
  for (std::string folder; list >> folder;) {
    std::error_code error;
    if (folder.starts_with('/') && fs::is_directory(folder, error))
      binds.push_back({.from = RealPath(folder), .to = folder, .read_only = true});
  }
  return binds;
}

Status CopyAuthorities(const std::string& folder, std::map<std::string, std::string>& variables) {
  std::vector<std::string> places = SystemCaBundles();
  if (const char* own = std::getenv("SSL_CERT_FILE"); own != nullptr) places.insert(places.begin(), own);
  if (const auto own = variables.find("PIP_CERT"); own != variables.end())
    places.insert(places.begin(), own->second);
  for (const std::string& place : places) {
    const auto bundle = ReadFile(place);
    if (!bundle) continue;
    TY_RETURN_IF_ERROR(WriteFileAtomically(folder + "/ca.pem", *bundle));
    for (const char* name : {"PIP_CERT", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"})
      variables[name] = std::string(kStagedInContainer) + "/ca.pem";
    return {};
  }
  return {};
}

Status WriteSettings(const std::string& folder, const std::vector<std::string>& configurations,
                     const std::map<std::string, std::string>& variables) {
  boost::json::object pip;
  for (const auto& [name, value] : variables) pip[name] = value;
  boost::json::array files;
  for (const std::string& text : configurations) files.emplace_back(text);
  const boost::json::object settings{{"files", std::move(files)}, {"variables", std::move(pip)}};
  return WriteFileAtomically(folder + "/settings.json", boost::json::serialize(settings), 0600);
}

std::string ImageName(const v1::Manifest& manifest) {
  const v1::Manifest::Container& container = manifest.program().container();
  return container.image().empty() ? container.reference() : container.image();
}

}  // namespace

bool HasImagePackages(const v1::Manifest& manifest) {
  return manifest.program().has_container() && !manifest.program().packages().empty();
}

std::string PackageLayerName(const v1::Manifest& manifest) {
  environment::ContentHash hash;
  hash.AddPart("packages 2").AddPart(manifest.program().container().digest());
  for (const v1::Manifest::Package& package : manifest.program().packages())
    hash.AddPart(fs::path(package.uri()).filename().native()).AddPart(package.checksum());
  return hash.Hex();
}

std::string PackageLayerFolder(const v1::Manifest& manifest) {
  return image::CacheLayout(manifest.places().images_dir()).PackageLayers() / PackageLayerName(manifest);
}

Status NotePackageImage(const v1::Manifest& manifest) {
  const fs::path note = PackageLayerFolder(manifest) + ".image";
  if (access(note.c_str(), F_OK) == 0) return {};
  TY_RETURN_IF_ERROR(MakeFolders(note.parent_path()));
  return WriteFileAtomically(note, manifest.program().container().digest());
}

Result<PackageInstallation> StagePackages(const v1::Manifest& manifest, const PreparationHooks& hooks) {
  const std::string folder = manifest.places().attempt_dir() + "/packages";
  TY_RETURN_IF_ERROR(MakeFolders(folder));
  std::map<std::string, std::string> variables;
  const std::map<std::string, std::string> own = ReadVariables();
  for (const auto& [name, value] : own) {
    if (ConcernsPip(name)) variables[name] = value;
  }
  for (const char* name : {"PIP_CONFIG_FILE", "PIP_CACHE_DIR"}) variables.erase(name);
  variables.insert({{"PIP_DISABLE_PIP_VERSION_CHECK", "1"},
                    {"PIP_PROGRESS_BAR", "off"},
                    {"PIP_ROOT_USER_ACTION", "ignore"},
                    {"PIP_NO_WARN_SCRIPT_LOCATION", "1"},
                    {"PIP_BREAK_SYSTEM_PACKAGES", "1"},
                    {"PYTHONUNBUFFERED", "1"}});
  TY_RETURN_IF_ERROR(CopyAuthorities(folder, variables));
  const std::vector<std::string> configurations = PipConfigurations(own);
  TY_RETURN_IF_ERROR(WriteSettings(folder, configurations, variables));
  TY_RETURN_IF_ERROR(WriteFileAtomically(folder + "/install_packages.py", image_packages::Files()[0].bytes));
  TY_RETURN_IF_ERROR(WriteFileAtomically(folder + "/layer_probe.py", environment::EmbeddedLayerProbe()));
  for (int i = 0; i < manifest.program().packages_size(); ++i) {
    const std::string& uri = manifest.program().packages(i).uri();
    const fs::path own_folder = fs::path(folder) / std::to_string(i);
    TY_RETURN_IF_ERROR(MakeFolders(own_folder));
    hooks.info("Downloading the package: " + uri);
    const fs::path file = own_folder / fs::path(uri).filename();
    TY_RETURN_IF_ERROR(hooks.download(uri, file));
    TY_RETURN_IF_ERROR(environment::CheckContent({uri, manifest.program().packages(i).checksum()}, file));
  }
  PackageInstallation installation{
      .argv = {"python3", std::string(kStagedInContainer) + "/install_packages.py", kStagedInContainer},
      .binds = LinkFolders(configurations, own)};
  installation.binds.push_back({.from = RealPath(folder), .to = kStagedInContainer, .read_only = true});
  return installation;
}

void InstallationLines::Take(bool is_error, std::string_view bytes) {
  std::string& line = is_error ? error_ : output_;
  for (const char c : bytes) {
    if (c != '\n' && c != '\r') line += c;
    if (c == '\n' || line.size() >= kLineBytesMax) Finish(is_error);
  }
}

void InstallationLines::Finish(bool is_error) {
  std::string& line = is_error ? error_ : output_;
  if (line.empty()) return;
  if (line.starts_with("Running command: "))  // of install_packages.py
    kept_.Begin(line);
  else
    (is_error ? kept_.Err() : kept_.Out())(line);
  if (tail_.size() == kToolTailMax) tail_.erase(tail_.begin());
  tail_.push_back(std::exchange(line, {}));
}

std::vector<std::string> InstallationLines::End(bool ok) {
  Finish(false);
  Finish(true);
  kept_.End(ok);
  return std::move(tail_);
}

Result<std::vector<std::string>> ContainerCommand(const v1::Manifest& manifest,
                                                  const container::ImageConfig& image) {
  const v1::Manifest::Program& program = manifest.program();
  if (program.python_module().empty()) return container::ProgramOf(image, program.container());
  std::vector<std::string> command = {"python3", "-m", program.python_module()};
  command.insert(command.end(), program.args().begin(), program.args().end());
  return command;
}

Error PackageFailure(const v1::Manifest& manifest, const ToolEnd& end) {
  if (end.exit_code == kNoPipStatus) {
    return FailedPrecondition(
        "the packages cannot be installed: the image " + ImageName(manifest) +
        " has no pip (python3 -m pip); install it in the image, or the packages themselves");
  }
  return environment::ExplainFailure("pip", end);
}

Error NoPythonFailure(const v1::Manifest& manifest, std::string_view reason) {
  return FailedPrecondition("the packages cannot be installed: the image " + ImageName(manifest) +
                            " has no python3 that can be run (" + std::string(reason) + ")");
}

}  // namespace trainyard::replica
