#include "programs/environment/progress.h"

#include <gtest/gtest.h>

#include <tuple>
#include <utility>
#include <vector>

namespace trainyard::environment {
namespace {

using Figures = std::vector<std::pair<std::int64_t, std::int64_t>>;

Figures Read(const std::vector<std::string_view>& lines) {
  InstallProgress install("Installing");
  Figures figures;
  for (const std::string_view line : lines) {
    const std::optional<Progress> progress = install.TakeLine(line);
    if (!progress) continue;
    EXPECT_EQ(progress->what, "Installing");
    EXPECT_EQ(progress->unit, "packages");
    figures.emplace_back(progress->done, progress->total);
  }
  return figures;
}

TEST(InstallProgress, ReadsUv) {
  EXPECT_EQ(Read({"Using Python 3.11.2 environment at: /e", "Resolved 3 packages in 12ms",
                  "Downloading numpy (17.3MiB)", " Downloaded numpy", "Prepared 3 packages in 1.2s",
                  "Installed 3 packages in 40ms", " + numpy==2.1.0"}),
            (Figures{{0, 3}, {1, 3}, {3, 3}}));
  EXPECT_EQ(Read({"Resolved 1 package in 1ms", "Installed 1 package in 1ms"}), (Figures{{0, 1}, {1, 1}}));
}

TEST(InstallProgress, ReadsPip) {
  EXPECT_EQ(Read({"Collecting requests", "  Downloading requests-2.32-py3-none-any.whl (64 kB)",
                  "Collecting idna", "Installing collected packages: idna, requests",
                  "Successfully installed idna-3.10 requests-2.32"}),
            (Figures{{1, 0}, {2, 0}, {2, 2}}));
}

std::string TextAfter(const std::vector<std::string_view>& lines) {
  InstallProgress install("Installing");
  for (const std::string_view line : lines) std::ignore = install.TakeLine(line);
  return install.Text();
}

TEST(InstallProgress, SaysPackagesAndBytesSoFar) {
  EXPECT_EQ(TextAfter({"Looking in links: /opt"}), "");
  EXPECT_EQ(TextAfter({"Collecting numpy", "  Downloading numpy-2.0.whl.metadata (62 kB)",
                       "Downloading numpy-2.0.whl (18.2 MB)", "Collecting six"}),
            "2 packages, 19 MB downloaded");
  EXPECT_EQ(TextAfter({"Resolved 3 packages in 12ms", "Downloading numpy (17.3MiB)", " Downloaded numpy"}),
            "1 of 3 packages, 19 MB downloaded");
  EXPECT_EQ(TextAfter({"Successfully installed trainer-1.0"}), "1 package");
  EXPECT_EQ(TextAfter({"Downloading it (soon)", "Downloading", "Downloading x (1"}), "");
}

TEST(InstallProgress, OtherLinesSayNothing) {
  EXPECT_TRUE(Read({"", "   ", "Resolved", "Resolved many packages", "Resolved 3 things", "error: Installed"})
                  .empty());
}

}  // namespace
}  // namespace trainyard::environment
