#include "programs/environment/tool_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/async/file.h"
#include "programs/environment/layout.h"
#include "programs/environment/temporary_folder_for_test.h"

namespace trainyard::environment {
namespace {

using testing::ElementsAre;

class ToolOutputTest : public testing::Test {
 protected:
  ToolOutput Output() {
    return {folder_.path() / "layer", hooks_, "Installing requirements", [this] { return now_; }};
  }
  std::string Kept() const { return *ReadFile(Layout::Output(folder_.path() / "layer")); }

  TemporaryFolder folder_;
  std::vector<std::string> log_;
  std::vector<Progress> progress_;
  PreparationHooks hooks_{
      .info = [this](std::string_view line) { log_.emplace_back(line); },
      .error = [this](std::string_view line) { log_.push_back("E " + std::string(line)); },
      .progress = [this](const Progress& seen) { progress_.push_back(seen); },
      .shown_by = "trainyard jobs preparation j",
      .download = {}};
  std::chrono::steady_clock::time_point now_{std::chrono::hours(1)};
};

TEST_F(ToolOutputTest, ACommandThatInstallsNothingIsOnlyInTheFile) {
  ToolOutput output = Output();
  output.Out()("Successfully installed pip-24.0");  // ensurepip's
  output.End(true);
  EXPECT_THAT(log_, testing::IsEmpty());
  EXPECT_EQ(Kept(), "Successfully installed pip-24.0\n");
}

TEST_F(ToolOutputTest, TheLogHasProgressAndTheFileHasAll) {
  ToolOutput output = Output();
  output.Begin("Running command: pip3 install 'numpy'");
  output.Out()("Collecting numpy");
  output.Out()("Downloading numpy-2.0.whl (18.2 MB)");
  now_ += ToolOutput::kSayInterval;
  output.Out()("Collecting six");
  output.Out()("Collecting idna");
  output.Err()("WARNING: six is old");
  output.Err()("  Preparing metadata");
  output.Out()("Successfully installed idna-3 numpy-2.0 six-1");
  output.End(true);
  EXPECT_THAT(log_, ElementsAre("Running command: pip3 install 'numpy'",
                                "So far: 2 packages, 19 MB downloaded.", "E WARNING: six is old",
                                "Installed in 10 s: 3 packages, 19 MB downloaded. All output: trainyard jobs "
                                "preparation j"));
  EXPECT_EQ(Kept(),
            "Running command: pip3 install 'numpy'\nCollecting numpy\nDownloading numpy-2.0.whl (18.2 MB)\n"
            "Collecting six\nCollecting idna\nWARNING: six is old\n  Preparing metadata\n"
            "Successfully installed idna-3 numpy-2.0 six-1\n");
  EXPECT_EQ(progress_.back(),
            (Progress{.what = "Installing requirements", .done = 3, .total = 3, .unit = "packages"}));
  Output();
  EXPECT_EQ(Kept(), "") << "the next build's";
}

TEST_F(ToolOutputTest, AFailureShowsTheLastLinesOnce) {
  ToolOutput output = Output();
  output.Begin("Running command: pip3 install 'nosuch'");
  for (std::size_t i = 0; i < ToolOutput::kTailLines; ++i) output.Out()("line " + std::to_string(i));
  output.Err()("ERROR: No matching distribution found for nosuch");
  output.Err()("  hint");
  output.End(false);
  EXPECT_EQ(log_.size(), 1 + 1 + ToolOutput::kTailLines - 1 + 1);
  EXPECT_EQ(log_[1], "E ERROR: No matching distribution found for nosuch");
  EXPECT_EQ(log_[2], "line 2");
  EXPECT_EQ(log_[log_.size() - 2], "E   hint");
  EXPECT_EQ(log_.back(), "All output: trainyard jobs preparation j");
}

TEST_F(ToolOutputTest, TheFileHasALimit) {
  ToolOutput output = Output();
  const std::string line(1 << 20, 'x');
  for (int i = 0; i < 20; ++i) output.Out()(line);
  EXPECT_EQ(Kept().size(), ToolOutput::kBytesMax);
}

}  // namespace
}  // namespace trainyard::environment
