#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/process/run_tool.h"
#include "base/result.h"
#include "programs/environment/environment.h"
#include "programs/environment/layout.h"
#include "programs/environment/uv.h"

namespace trainyard::environment {

/// Where the tools of one build run: in the isolation of the hooks (without one, as we do). They may write
/// into the folder that is built, into the cache if they share one, and into a /tmp of their own, which is
/// gone when they end. The destructor removes what is beside the folder. One thread.
class BuildRoom {
 public:
  struct Options {
    const Layout& layout;  ///< outlives the room, as do the hooks
    const PreparationHooks& hooks;
    std::filesystem::path folder;  ///< is there
    int lock;                      ///< held for as long as any process of a tool runs
    ToolCache cache = ToolCache::kNone;
    std::vector<std::string> read_only;  ///< what else tools see: interpreters, a runtime
  };

  [[nodiscard]] static Result<std::unique_ptr<BuildRoom>> Open(Options options);
  BuildRoom(const BuildRoom&) = delete;
  BuildRoom& operator=(const BuildRoom&) = delete;
  ~BuildRoom();

  /// The folder for what tools may read but not change.
  [[nodiscard]] std::filesystem::path Incoming() const;
  /// As RunTool. What is in the folder at that time becomes the tool's.
  [[nodiscard]] Result<ToolEnd> Run(std::vector<std::string> argv, const LineSink& out, const LineSink& err);
  /// Ends the build: no process of a tool runs any more, and the folder becomes ours again, without what must
  /// not be kept (build_content.h); the log has a line for each. Until then nothing may use what tools wrote.
  [[nodiscard]] Status TakeBack();

 private:
  explicit BuildRoom(Options options) : options_(std::move(options)) {}
  [[nodiscard]] std::filesystem::path Beside() const { return options_.folder.string() + ".build"; }
  [[nodiscard]] Status HandOver() const;

  Options options_;
};

/// What a tool must see to run this interpreter, which may be a link: its installation.
[[nodiscard]] std::vector<std::string> PythonFiles(const std::filesystem::path& program);

}  // namespace trainyard::environment
