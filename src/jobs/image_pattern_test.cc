#include "jobs/image_pattern.h"

#include <gtest/gtest.h>

namespace trainyard::jobs {
namespace {

struct Row {
  const char* name;
  const char* pattern;
  const char* image;
  bool matches;
};
class ImagePattern : public testing::TestWithParam<Row> {};
TEST_P(ImagePattern, Matches) {
  EXPECT_EQ(MatchesImage(GetParam().pattern, GetParam().image), GetParam().matches);
}
INSTANTIATE_TEST_SUITE_P(
    Rules, ImagePattern,
    testing::Values(Row{"same", "gcr.io/p/a", "gcr.io/p/a", true},
                    Row{"other", "gcr.io/p/a", "gcr.io/p/b", false},
                    Row{"longer", "gcr.io/p/a", "gcr.io/p/ab", false},
                    Row{"any_tag", "gcr.io/p/a", "gcr.io/p/a:v1", true},
                    Row{"any_digest", "gcr.io/p/a", "gcr.io/p/a@sha256:0123", true},
                    Row{"tag_and_digest", "gcr.io/p/a", "gcr.io/p/a:v1@sha256:0123", true},
                    Row{"tag", "gcr.io/p/a:v1", "gcr.io/p/a:v1", true},
                    Row{"other_tag", "gcr.io/p/a:v1", "gcr.io/p/a:v2", false},
                    Row{"port", "localhost:5000/a", "localhost:5000/a", true},
                    Row{"port_and_tag", "localhost:5000/a", "localhost:5000/a:v1", true},
                    Row{"other_port", "localhost:5000/a", "localhost:5001/a", false},
                    Row{"star", "gcr.io/cloud-ml-public/training/pytorch-*",
                        "gcr.io/cloud-ml-public/training/pytorch-gpu.1-11", true},
                    Row{"star_and_tag", "gcr.io/*/pytorch-*", "gcr.io/x/y/pytorch-xla.1-10:latest", true},
                    Row{"star_needs_the_rest", "gcr.io/*/torch", "gcr.io/a/torch/b", false},
                    Row{"star_goes_back", "*ab", "aab", true}, Row{"only_a_star", "*", "a", true},
                    Row{"empty", "", "a", false}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace trainyard::jobs
