#include "rules/diagnosis/google_buckets.h"

#include <gtest/gtest.h>

#include "rules/diagnosis/classify.h"

namespace trainyard::diagnosis {
namespace {

using replica::v1::ExitRecord;

Symptoms Ended(const std::string& exception) {
  Symptoms seen{.cause = ExitRecord::EXITED, .exit_code = 1, .python_module = "trainer.task"};
  seen.traceback = "Traceback (most recent call last):\n  File \"task.py\", line 1, in <module>\n    f()\n" +
                   exception + "\n";
  std::size_t begin = 0;
  for (std::size_t end = 0; end != std::string::npos; begin = end + 1) {
    end = exception.find('\n', begin);
    seen.last_lines.push_back({exception.substr(begin, end - begin), true});
    if (end == std::string::npos) break;
  }
  return seen;
}

TEST(GoogleBucket, IsAWholeWord) {
  EXPECT_EQ(GoogleBucketIn("gs://tfds-data/x"), "tfds-data");
  EXPECT_EQ(GoogleBucketIn("b/cloud-samples-data/o"), "cloud-samples-data");
  EXPECT_EQ(GoogleBucketIn("does not exist: tfds-data. A bucket"), "tfds-data");
  EXPECT_EQ(GoogleBucketIn("gs://gcp-public-data-landsat/index.csv.gz"), "gcp-public-data-landsat");
  EXPECT_EQ(GoogleBucketIn("gs://download.tensorflow.org/data"), "download.tensorflow.org");
  for (const char* other :
       {"", "gs://", "gs://my-tfds-data/x", "gs://tfds-data-2", "gs://gcp-public-data-", "..."})
    EXPECT_EQ(GoogleBucketIn(other), "") << other;
}

struct Row {
  const char* name;
  const char* exception;
  const char* bucket;  ///< empty: another diagnosis
};

class OfGoogles : public testing::TestWithParam<Row> {};

TEST_P(OfGoogles, IsNamedWithBothWaysOut) {
  const auto [name, exception, bucket] = GetParam();
  const auto diagnosis = Classify(Ended(exception));
  ASSERT_TRUE(diagnosis);
  if (std::string_view(bucket).empty()) {
    EXPECT_NE(diagnosis->name(), "google_bucket");
    return;
  }
  EXPECT_EQ(diagnosis->name(), "google_bucket") << diagnosis->summary();
  const std::string uri = std::string("gs://") + bucket;
  EXPECT_TRUE(diagnosis->summary().starts_with(uri + " is a public bucket of Google's"))
      << diagnosis->summary();
  for (const std::string& way :
       {std::string("--real-bucket ") + bucket, "'trainyard storage cp FILE " + uri + "/OBJECT'"})
    EXPECT_NE(diagnosis->advice().find(way), std::string::npos) << diagnosis->advice();
}

INSTANTIATE_TEST_SUITE_P(
    Clients, OfGoogles,
    testing::Values(
        Row{"tensorflow",
            "tensorflow.python.framework.errors_impl.NotFoundError: Error executing an HTTP request: HTTP "
            "response "
            "code 404 with body '{\n  \"error\": {\n    \"code\": 404\n  }\n}\n'\n\t when reading "
            "gs://tfds-data/datasets/mnist/x/",
            "tfds-data"},
        Row{"tensorflow_directory",
            "tensorflow.python.framework.errors_impl.NotFoundError: Could not find directory gs://tfds-data/",
            "tfds-data"},
        Row{"checkpoint",
            "tensorflow.python.framework.errors_impl.NotFoundError: Unsuccessful TensorSliceReader "
            "constructor: "
            "Failed to find any matching files for gs://cloud-tpu-checkpoints/bert/bert_model.ckpt",
            "cloud-tpu-checkpoints"},
        Row{"gcsfs", "FileNotFoundError: b/cloud-samples-data/o", "cloud-samples-data"},
        Row{"folder", "FileNotFoundError: [Errno 2] No such file or directory: '/gcs/cloud-samples-data/x'",
            "cloud-samples-data"},
        Row{"client",
            "google.api_core.exceptions.NotFound: 404 GET http://h/b/cloud-samples-data: The specified "
            "bucket does "
            "not exist: cloud-samples-data",
            "cloud-samples-data"},
        Row{"gsutil",
            "subprocess.CalledProcessError: Command '['gsutil', 'cp', 'gs://cloud-samples-data/a.csv', '.']' "
            "returned "
            "non-zero exit status 1.",
            "cloud-samples-data"},
        Row{"as_local_file",
            "FileNotFoundError: [Errno 2] No such file or directory: 'gs://cloud-samples-data/a.csv'", ""},
        Row{"another_error", "ModuleNotFoundError: No module named 'tfds-data'", ""},
        Row{"another_bucket", "FileNotFoundError: b/my-data/o", ""}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(GoogleBucket, IsFoundInTheLastLinesOfAProgramWithoutAnException) {
  Symptoms seen{.cause = ExitRecord::EXITED, .exit_code = 1};
  seen.last_lines.push_back({"CommandException: No URLs matched: gs://cloud-samples-data/a.csv", true});
  EXPECT_EQ(Classify(seen)->name(), "google_bucket");
}

}  // namespace
}  // namespace trainyard::diagnosis
