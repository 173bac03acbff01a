#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/async/unique_fd.h"
#include "base/process/run_tool.h"
#include "base/result.h"
#include "programs/environment/environment.h"
#include "programs/environment/layout.h"
#include "programs/environment/uv.h"

namespace trainyard::environment {

/// Runs the tools of one build, in the isolation of the hooks (without one, like this process). The tools may
/// write into the directory that is built, into the cache if they share one, and into a private /tmp, which
/// is removed when they end. The destructor removes temporary files next to the directory. One thread.
class BuildRoom {
 public:
  struct Options {
    const Layout& layout;  ///< outlives this object, as do the hooks
    const PreparationHooks& hooks;
    std::filesystem::path folder;  ///< must exist
    int lock;  ///< the build lock's descriptor; tools inherit it, so it is locked while any of them runs
    ToolCache cache = ToolCache::kNone;
    std::vector<std::string> read_only;  ///< further paths that tools see: interpreters, a runtime
  };

  [[nodiscard]] static Result<std::unique_ptr<BuildRoom>> Open(Options options);
  BuildRoom(const BuildRoom&) = delete;
  BuildRoom& operator=(const BuildRoom&) = delete;
  ~BuildRoom();

  /// The directory for files that tools may read but not change.
  [[nodiscard]] std::filesystem::path Incoming() const;
  /// As RunTool. The files in the directory become the tool's.
  [[nodiscard]] Result<ToolEnd> Run(std::vector<std::string> argv, const LineSink& out, const LineSink& err);
  /// Ends the build: no process of a tool may run any more. The directory becomes ours again, without entries
  /// that must not be kept (build_content.h), which the log lists. Do not use what tools wrote before this
  /// call.
  [[nodiscard]] Status TakeBack();

 private:
  explicit BuildRoom(Options options) : options_(std::move(options)) {}
  [[nodiscard]] std::filesystem::path Beside() const { return options_.folder.string() + ".build"; }
  [[nodiscard]] Status HandOver() const;

  Options options_;
  UniqueFd cache_use_;  ///< locked, shared: RemoveDownloadCache does not remove the cache meanwhile
};

/// The paths that a tool must see to run this interpreter, which may be a link: its installation.
[[nodiscard]] std::vector<std::string> PythonFiles(const std::filesystem::path& program);

}  // namespace trainyard::environment
