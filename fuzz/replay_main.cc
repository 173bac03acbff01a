// Runs a fuzz target without libFuzzer: over the files of a corpus, then over mutations of them, the same
// ones every time.
//
//   NAME_fuzz CORPUS [MUTATIONS [SEED]]
//
// On a failure the input that caused it is printed as a C++ string literal.
#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" void __sanitizer_set_death_callback(void (*callback)()) __attribute__((weak));

namespace {

using namespace std::string_view_literals;

constexpr std::size_t kMutations = 3000;
constexpr std::size_t kSizeMax = 4096;
constexpr unsigned kSeed = 1;

std::string present;

void PrintPresent() {
  std::fprintf(stderr, "the input: \"");
  for (const char c : present) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      std::fprintf(stderr, "\\%c", c);
    } else if (byte >= 0x20 && byte < 0x7f) {
      std::fputc(c, stderr);
    } else {
      std::fprintf(stderr, "\\%03o", byte);
    }
  }
  std::fprintf(stderr, "\"\n");
}

void OnAbort(int number) {
  PrintPresent();
  std::signal(number, SIG_DFL);
  std::raise(number);
}

void Run(std::string input) {
  present = std::move(input);
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(present.data()), present.size());
}

std::vector<std::string> ReadCorpus(const char* folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) paths.push_back(entry.path());
  std::ranges::sort(paths);
  std::vector<std::string> corpus;
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    corpus.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return corpus;
}

class Mutator {
 public:
  Mutator(const std::vector<std::string>& corpus, unsigned seed) : corpus_(corpus), random_(seed) {}

  std::string Next() {
    std::string text = Any();
    for (std::size_t steps = 1 + Below(6); steps > 0; --steps) Change(text);
    text.resize(std::min(text.size(), kSizeMax));
    return text;
  }

 private:
  std::size_t Below(std::size_t limit) { return limit == 0 ? 0 : random_() % limit; }
  const std::string& Any() { return corpus_[Below(corpus_.size())]; }

  std::string Piece(const std::string& text) {
    const std::size_t at = Below(text.size());
    return text.substr(at, 1 + Below(std::min<std::size_t>(text.size() - at, 16)));
  }

  void Change(std::string& text) {
    static constexpr std::string_view kTelling = "\0\n\r\"\\%*:/-+.0919\x7f\x80\xff(){}[],;= "sv;
    const std::size_t at = Below(text.size() + 1);
    switch (Below(7)) {
      case 0: text.insert(at, 1, static_cast<char>(Below(256))); return;
      case 1: text.insert(at, 1, kTelling[Below(kTelling.size())]); return;
      case 2: text.erase(at, 1 + Below(8)); return;
      case 3:
        if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << Below(8)));
        return;
      case 4: text.insert(at, Piece(text)); return;
      case 5: text.insert(at, Piece(Any())); return;
      default: text.resize(at); return;
    }
  }

  const std::vector<std::string>& corpus_;
  std::mt19937 random_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s CORPUS [MUTATIONS [SEED]]\n", argv[0]);
    return 2;
  }
  std::signal(SIGABRT, OnAbort);
  if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(PrintPresent);
  const std::vector<std::string> corpus = ReadCorpus(argv[1]);
  if (corpus.empty()) {
    std::fprintf(stderr, "%s: %s has no seeds\n", argv[0], argv[1]);
    return 2;
  }
  Run("");
  for (const std::string& seed : corpus) Run(seed);
  const std::size_t mutations = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : kMutations;
  Mutator mutator(corpus, argc > 3 ? static_cast<unsigned>(std::strtoul(argv[3], nullptr, 10)) : kSeed);
  for (std::size_t i = 0; i < mutations; ++i) Run(mutator.Next());
  std::printf("%zu seeds, %zu mutations\n", corpus.size(), mutations);
  return 0;
}
