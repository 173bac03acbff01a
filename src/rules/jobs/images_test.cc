#include "rules/jobs/images.h"

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

namespace trainyard::jobs {
namespace {

using control::v1::Event;
using control::v1::JobRecord;
using namespace std::chrono_literals;

constexpr SysTime kNow{1'600'000'000s};

JobRecord Queued(const std::string& images) {
  JobRecord job;
  EXPECT_TRUE(
      google::protobuf::TextFormat::ParseFromString("revision: 1 job { state: QUEUED } " + images, &job));
  return job;
}

/// Two images, of which the second is not known.
JobRecord Half() { return Queued("images { image: 'a' digest: 'sha256:0' } images { image: 'b' }"); }

template <class T>
bool Is(const std::optional<ImageStep>& step) {
  return step && std::holds_alternative<T>(*step);
}

TEST(NextImageStep, WhatIsKnownNeedsNothing) {
  EXPECT_FALSE(NextImageStep(Queued(""), {}, kNow));
  EXPECT_FALSE(NextImageStep(Queued("images { image: 'a' digest: 'sha256:0' }"), {.refusal = "no"}, kNow));
}

TEST(NextImageStep, ALookUpIsAwaitedAndThenRepeatedLaterAndLater) {
  EXPECT_TRUE(Is<ResolveImages>(NextImageStep(Half(), {}, kNow))) << "the first is at once";
  EXPECT_TRUE(Is<AwaitImages>(NextImageStep(Half(), {.asking = true}, kNow)));
  struct Row {
    int unanswered;
    std::chrono::seconds pause;
  };
  for (const Row& row : {Row{1, 1s}, Row{2, 2s}, Row{3, 4s}, Row{6, 32s}, Row{7, 60s}, Row{1'000'000, 60s}}) {
    const ImageObservation seen{.unanswered = row.unanswered, .asked_time = kNow};
    const auto step = NextImageStep(Half(), seen, kNow + row.pause - 1ns);
    ASSERT_TRUE(Is<SysTime>(step)) << row.unanswered;
    EXPECT_EQ(std::get<SysTime>(*step), kNow + row.pause) << row.unanswered;
    EXPECT_TRUE(Is<ResolveImages>(NextImageStep(Half(), seen, kNow + row.pause))) << row.unanswered;
  }
}

TEST(NextImageStep, WhatIsFoundIsRecordedOnce) {
  ImageObservation seen{.unanswered = 1, .asked_time = kNow};
  control::v1::ImageRecord& found = *seen.resolved.emplace().add_images();
  found.set_image("b");
  found.set_digest("sha256:1");
  const auto step = NextImageStep(Half(), seen, kNow);
  ASSERT_TRUE(Is<Event>(step));
  EXPECT_EQ(std::get<Event>(*step).images_resolved().images(0).digest(), "sha256:1");
  const JobRecord other = Queued("images { image: 'b' digest: 'sha256:1' } images { image: 'c' }");
  EXPECT_TRUE(Is<SysTime>(NextImageStep(other, seen, kNow))) << "recorded, and another image is left";
}

TEST(NextImageStep, AnImageThatCannotBeHadFailsTheJob) {
  const auto step =
      NextImageStep(Half(), {.unanswered = 1, .refusal = "The image b cannot be used: no"}, kNow);
  ASSERT_TRUE(Is<Event>(step));
  EXPECT_EQ(std::get<Event>(*step).concluded().outcome(), ml::v1::Job::FAILED);
  EXPECT_EQ(std::get<Event>(*step).concluded().error_message(), "The image b cannot be used: no");
}

}  // namespace
}  // namespace trainyard::jobs
