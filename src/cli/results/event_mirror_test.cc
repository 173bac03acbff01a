#include "cli/results/event_mirror.h"

#include <gtest/gtest.h>

namespace trainyard::cli {
namespace {

TEST(MirroredPath, IsOfWhatTensorBoardReads) {
  EXPECT_EQ(MirroredPath("train/events.out.tfevents.1.host.v2"), "train/events.out.tfevents.1.host.v2");
  EXPECT_EQ(MirroredPath("plugins/profile/1/host.xplane.pb"), "plugins/profile/1/host.xplane.pb");
  EXPECT_EQ(MirroredPath("projector_config.pbtxt"), "projector_config.pbtxt");
  EXPECT_EQ(MirroredPath("model/saved_model.pb"), "");
  EXPECT_EQ(MirroredPath("checkpoint"), "");
}

TEST(MirroredPath, StaysInItsFolder) {
  for (const char* name : {"../tfevents", "a/../../tfevents", "/tmp/tfevents", "./tfevents", "a/./tfevents"})
    EXPECT_EQ(MirroredPath(name), "") << name;
  EXPECT_EQ(MirroredPath(std::string("a\0tfevents", 10)), "");
}

}  // namespace
}  // namespace trainyard::cli
