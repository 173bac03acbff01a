#include "engine/kubernetes/kube_watch_reader.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace trainyard::engine {
namespace {

constexpr std::string_view kLines =
    R"({"type":"ADDED","object":{"kind":"Pod","metadata":{"name":"a","uid":"1","resourceVersion":"8"}}})"
    "\n\n"
    R"({"type":"BOOKMARK","object":{"kind":"Pod","metadata":{"resourceVersion":"9"}}})"
    "\n"
    R"({"type":"DELETED","object":{"kind":"Pod","metadata":{"name":"a","uid":"1","resourceVersion":"10"}}})"
    "\n";

TEST(KubeWatchReader, PiecesOfAnySize) {
  for (std::size_t size = 1; size < kLines.size(); size += 7) {
    std::vector<std::string> seen;
    KubeWatchReader reader("7", [&](const PodEvent& event) {
      seen.push_back((event.kind == PodEvent::Kind::kGone ? "-" : "+") + event.pod.name);
    });
    EXPECT_EQ(reader.version(), "7");
    for (std::size_t at = 0; at < kLines.size(); at += size)
      EXPECT_TRUE(reader.Feed(kLines.substr(at, size)));
    EXPECT_THAT(seen, testing::ElementsAre("+a", "-a"));
    EXPECT_EQ(reader.version(), "10");
  }
}

TEST(KubeWatchReader, WhatItCannotReadEndsIt) {
  for (const std::string& text :
       {std::string("hello\n"), std::string("{}\n"), std::string(R"({"type":"ADDED","object":{}})") + "\n",
        std::string(KubeWatchReader::kLineBytesMax + 1, 'x'),
        std::string(KubeWatchReader::kLineBytesMax + 1, 'x') + "\n"}) {
    KubeWatchReader reader("7", [](const PodEvent&) { FAIL(); });
    const KubeAnswer<void> read = reader.Feed(text);
    ASSERT_FALSE(read) << text.substr(0, 50);
    EXPECT_EQ(read.error().failure, kubernetes::Failure::kNoAnswer);
  }
}

}  // namespace
}  // namespace trainyard::engine
