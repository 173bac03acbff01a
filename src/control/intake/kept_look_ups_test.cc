#include "control/intake/image_lookups.h"

#include <gtest/gtest.h>

namespace trainyard::control {
namespace {

using std::chrono::milliseconds;

class SettableClock final : public Clock {
 public:
  [[nodiscard]] SysTime Now() const override { return now; }
  SysTime now{std::chrono::seconds(1'700'000'000)};
};

class KeptLookUpsTest : public testing::Test {
 protected:
  Result<image::ResolvedImage> Ask(const std::string& image, milliseconds timeout = milliseconds(2'000)) {
    const ImageResolver resolve = [this](const std::string&, milliseconds,
                                         const std::stop_token&) -> Result<image::ResolvedImage> {
      ++asked_;
      if (refusal_) return std::unexpected(*refusal_);
      return image::ResolvedImage{.reference = "r@" + std::to_string(asked_), .digest = "d"};
    };
    return kept_.Resolve(resolve, image, timeout, {});
  }

  SettableClock clock_;
  KeptLookUps kept_{clock_};
  std::optional<Error> refusal_;
  int asked_ = 0;
};

TEST_F(KeptLookUpsTest, AskOnceInHalfAMinute) {
  EXPECT_EQ(Ask("a")->reference, "r@1");
  clock_.now += KeptLookUps::kLife - std::chrono::seconds(1);
  EXPECT_EQ(Ask("a")->reference, "r@1");
  EXPECT_EQ(Ask("b")->reference, "r@2");
  clock_.now += std::chrono::seconds(1);
  EXPECT_EQ(Ask("a")->reference, "r@3");
}

TEST_F(KeptLookUpsTest, KeepRefusalsAndSilenceButNotHaste) {
  refusal_ = NotFound("no such image");
  EXPECT_FALSE(Ask("a"));
  EXPECT_FALSE(Ask("a"));
  EXPECT_EQ(asked_, 1);
  refusal_ = Error{Code::kDeadlineExceeded, "no answer", ""};
  EXPECT_FALSE(Ask("b", milliseconds(1)));
  EXPECT_FALSE(Ask("b"));
  EXPECT_FALSE(Ask("b"));
  EXPECT_EQ(asked_, 3);
}

TEST_F(KeptLookUpsTest, AreBounded) {
  for (std::size_t i = 0; i <= KeptLookUps::kImagesMax; ++i) {
    clock_.now += milliseconds(1);
    std::ignore = Ask("i" + std::to_string(i));
  }
  const int before = asked_;
  std::ignore = Ask("i1");
  EXPECT_EQ(asked_, before);
  std::ignore = Ask("i0");
  EXPECT_EQ(asked_, before + 1) << "the oldest gave way";
}

}  // namespace
}  // namespace trainyard::control
