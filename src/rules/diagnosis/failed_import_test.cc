#include "rules/diagnosis/failed_import.h"

#include <gtest/gtest.h>

#include <string>

namespace trainyard::diagnosis {
namespace {

std::string Raised(const std::string& exception) {
  return "Traceback (most recent call last):\n"
         "  File \"<frozen runpy>\", line 198, in _run_module_as_main\n"
         "  File \"/l/site-packages/video-labels/train.py\", line 4, in <module>\n    import helpers.text\n" +
         exception;
}

TEST(FailedImport, IsTheModulesFirstPartAndTheLastFramesFile) {
  EXPECT_EQ(FindFailedImport(Raised("ModuleNotFoundError: No module named 'helpers.text'\n")),
            (FailedImport{"helpers", "/l/site-packages/video-labels/train.py"}));
}

TEST(FailedImport, IsNoneForOtherEnds) {
  for (const std::string& other :
       {std::string(), Raised("ValueError: no"), std::string("ModuleNotFoundError: No module named 'x'"),
        Raised("ModuleNotFoundError: No module named 'x'\n\nDuring handling of the above exception, another "
               "exception occurred:\n\n" +
               Raised("ValueError: no"))})
    EXPECT_EQ(FindFailedImport(other), std::nullopt) << other;
}

}  // namespace
}  // namespace trainyard::diagnosis
