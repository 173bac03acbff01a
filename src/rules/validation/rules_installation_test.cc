#include <gtest/gtest.h>

#include "rules/validation/testing/table.h"

namespace trainyard::jobs {
namespace {

TEST(Validate, KnowsTheRuntimesOfTheInstallation) {
  ValidationContext context = Everything();
  context.runtimes = {{.version = "2.15", .python_versions = {"3.11"}}};
  EXPECT_EQ(Verdict(Make(kPackage, "runtime_version: '2.15' python_version: '3.11'"), context), "");
  EXPECT_EQ(Verdict(Make(kPackage, "runtime_version: '2.15'"), context), "");
  EXPECT_NE(Verdict(Make(kPackage, "runtime_version: '2.15' python_version: '3.7'"), context), "");
  EXPECT_TRUE(Verdict(Make(kPackage, "runtime_version: '1.9'"), context)
                  .starts_with("runtime_version: The specified runtime version '1.9' with the Python version "
                               "'' is not supported"));
}

TEST(Validate, SaysWhichRuntimeVersionsThereAre) {
  ValidationContext context = Everything();
  context.runtime_default = "2.15";
  for (const int minor : {14, 15})
    context.runtimes.push_back(
        {.version = "1." + std::to_string(minor), .python_versions = {minor == 14 ? "3.5" : "3.7", "2.7"}});
  for (int minor = 1; minor <= 11; ++minor)
    context.runtimes.push_back({.version = "2." + std::to_string(minor), .python_versions = {"3.7"}});
  context.runtimes.push_back({.version = "2.15", .python_versions = {"3.11"}});
  context.runtimes.push_back({.version = "2.21", .python_versions = {"3.11", "3.12"}});
  context.runtimes.push_back({.version = "2.15-gpu", .python_versions = {"3.11"}, .is_variant = true});
  context.runtimes.push_back({.version = "pytorch", .python_versions = {"3.11", "3.12"}});
  struct Here {
    const char* input;
    const char* version;
    const char* python;
    const char* hint;
  };
  for (const Here& row :
       {Here{"python_version: '3.6'", "2.15", "3.6",
             "No runtime version comes with Python 3.6; runtime version 2.15 comes with Python 3.11."},
        Here{"runtime_version: 'pytorch' python_version: '3.5'", "pytorch", "3.5",
             "Python 3.5 comes with runtime version 1.14; runtime version pytorch comes with Python 3.11 or "
             "3.12."},
        Here{"runtime_version: '2.1' python_version: '3.11'", "2.1", "3.11",
             "Python 3.11 comes with runtime versions 2.15, 2.21, pytorch; runtime version 2.1 comes with "
             "Python "
             "3.7."},
        Here{"runtime_version: '2.1' python_version: '4.2'", "2.1", "4.2",
             "No runtime version comes with Python 4.2; runtime version 2.1 comes with Python 3.7."},
        Here{"runtime_version: '2.12'", "2.12", "", "There are: 1.14 to 2.11, 2.15, 2.21, pytorch."},
        Here{"runtime_version: '2.1.0'", "2.1.0", "",
             "Did you mean '2.1'? There are: 1.14 to 2.11, 2.15, 2.21, pytorch."},
        Here{"runtime_version: 'tf2.11'", "tf2.11", "",
             "Did you mean '2.11'? There are: 1.14 to 2.11, 2.15, 2.21, pytorch."},
        Here{"runtime_version: 'PyTorh'", "PyTorh", "",
             "Did you mean 'pytorch'? There are: 1.14 to 2.11, 2.15, 2.21, pytorch."}}) {
    EXPECT_EQ(Verdict(Make(kPackage, row.input), context),
              "runtime_version: The specified runtime version '" + std::string(row.version) +
                  "' with the Python version '" + row.python +
                  "' is not supported or is deprecated.  Please specify a different runtime version. " +
                  row.hint);
  }
  for (const char* python : {"2.7", "3.5", "3.7", "3.11"})
    EXPECT_EQ(Verdict(Make(kPackage, "python_version: '" + std::string(python) + "'"), context), "");
}

TEST(Validate, SaysWhichRuntimeVersionsPassForTpus) {
  ValidationContext context = Everything();
  for (const char* version : {"2.2", "2.5", "2.15", "2.21"})
    context.runtimes.push_back({.version = version, .python_versions = {"3.11"}});
  context.runtimes.push_back({.version = "2.15-gpu", .python_versions = {"3.11"}, .is_variant = true});
  EXPECT_EQ(
      Verdict(Make(kPackage, "scale_tier: BASIC_TPU runtime_version: '2.5'"), context),
      "runtime_version: The runtime version '2.5' does not support training with TPUs. Versions that do: "
      "1.13, 1.14, 1.15, 2.1, 2.2, 2.15, 2.21.");
  EXPECT_EQ(Verdict(Make(kPackage, "scale_tier: BASIC_TPU runtime_version: '2.21'"), context), "");
}

TEST(Validate, SaysWhatThisInstallationLacks) {
  struct Here {
    const char* base;
    const char* input;
    const char* field;
  };
  for (const Here& row :
       {Here{kContainer, "", "master_config.image_uri"},
        Here{kPackage, "worker_config { image_uri: 'i' }", "worker_config.image_uri"},
        Here{kPackage, "hyperparameters { params { parameter_name: 'x' type: DOUBLE max_value: 1 } }",
             "hyperparameters"},
        Here{kPackage, "scale_tier: BASIC_GPU", "scale_tier"},
        Here{kPackage, "scale_tier: BASIC_TPU", "scale_tier"},
        Here{kPackage, "scale_tier: CUSTOM master_type: 'standard_gpu'", "master_type"},
        Here{kCustom, "master_config { accelerator_config { type: NVIDIA_TESLA_T4 count: 1 } }",
             "master_config.accelerator_config"},
        Here{kCustom, "worker_type: 'cloud_tpu' worker_count: 1", "worker_type"}}) {
    const ml::v1::Job job = Make(row.base, row.input);
    EXPECT_TRUE(Validate(job, Everything())) << row.input;
    const Status status = Validate(job, {});
    ASSERT_FALSE(status) << row.input;
    EXPECT_EQ(status.error().code, Code::kFailedPrecondition);
    EXPECT_EQ(status.error().field, row.field);
  }
  EXPECT_TRUE(Validate(Make(kPackage, "enable_web_access: true"), {})) << "every server has shells";
  EXPECT_EQ(Validate(Make(kContainer, ""), {.no_containers = "Install crun."}).error().message,
            "This server does not run containers. Install crun. A Python package (package_uris and "
            "python_module) runs without an image.");
}

}  // namespace
}  // namespace trainyard::jobs
