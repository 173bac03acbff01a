#include "rules/diagnosis/google_buckets.h"

#include <algorithm>
#include <array>

#include "rules/diagnosis/traceback_lines.h"

namespace trainyard::diagnosis {

namespace {

constexpr std::array<std::string_view, 14> kBuckets{"amazing-public-data",   "bert_models",
                                                    "cloud-ml-data",         "cloud-samples-data",
                                                    "cloud-tpu-checkpoints", "cloud-tpu-test-datasets",
                                                    "cloud-training-demos",  "download.tensorflow.org",
                                                    "flowers-public",        "google-cloud-aiplatform",
                                                    "tensorflow-nightly",    "tfds-data",
                                                    "tfhub-lite-models",     "tfhub-modules"};
/// Bigger data sets are in buckets of their own: gcp-public-data-landsat.
constexpr std::string_view kPrefix = "gcp-public-data-";
constexpr std::string_view kBucketCharacters = "abcdefghijklmnopqrstuvwxyz0123456789._-";

bool IsGoogles(std::string_view bucket) {
  return std::ranges::find(kBuckets, bucket) != kBuckets.end() ||
         (bucket.starts_with(kPrefix) && bucket.size() > kPrefix.size());
}

}  // namespace

std::string_view GoogleBucketIn(std::string_view text) {
  while (!text.empty()) {
    const std::size_t begin = text.find_first_of(kBucketCharacters);
    if (begin == std::string_view::npos) return {};
    text.remove_prefix(begin);
    std::string_view word = text.substr(0, text.find_first_not_of(kBucketCharacters));
    text.remove_prefix(word.size());
    while (word.ends_with('.')) word.remove_suffix(1);  // the sentence's
    if (IsGoogles(word)) return word;
  }
  return {};
}

std::string_view GoogleBucketIn(const Symptoms& seen) {
  const auto exceptions = ExceptionsOf(seen.traceback);
  for (const auto& exception : exceptions) {
    for (const std::string_view line : exception)
      if (const std::string_view bucket = GoogleBucketIn(line); !bucket.empty()) return bucket;
  }
  if (!exceptions.empty()) return {};
  for (const OutputLine& line : seen.last_lines)
    if (const std::string_view bucket = GoogleBucketIn(line.text); !bucket.empty()) return bucket;
  return {};
}

}  // namespace trainyard::diagnosis
