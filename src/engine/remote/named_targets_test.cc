#include "engine/remote/outside_door.h"

#include <gtest/gtest.h>

namespace trainyard::engine {
namespace {

TEST(NamedTargets, AreThoseOfTheIndexesAndOfTheMapOfImages) {
  EXPECT_EQ(
      FindNamedTargets({{"PIP_INDEX_URL", "https://user:pass@Index.Site/simple"},
                        {"PIP_EXTRA_INDEX_URL", "http://10.0.0.7:3141/root/pypi\n https://[fd00::7]:8443/x"},
                        {"UV_INDEX", "own=https://own.site/simple"},
                        {"PIP_FIND_LINKS", "/srv/wheels,https://links.site"},
                        {"PIP_TRUSTED_HOST", "files.site files.site:8443 [fd00::8]"},
                        {"UV_INDEX_URL", std::nullopt}},
                       {{"gcr.io/**", "harbor.site:5000/mirror/a"}, {"b", "oci:/srv/b"}}),
      (NamedTargets{"pypi.org:443", "files.pythonhosted.org:443", "index.site:443", "10.0.0.7:3141",
                    "fd00::7:8443", "own.site:443", "links.site:443", "files.site:443", "files.site:8443",
                    "fd00::8:443", "harbor.site:5000"}));
}

TEST(NamedTargets, AreNothingElse) {
  EXPECT_EQ(FindNamedTargets({{"HTTPS_PROXY", "http://proxy.site:3128"},
                              {"PIP_CERT", "https://a.site"},
                              {"PIP_INDEX_URL", "https:///simple"},
                              {"UV_INDEX", "https://[fd00::1 file:///srv/simple index.site"}},
                             {}),
            (NamedTargets{"pypi.org:443", "files.pythonhosted.org:443"}));
}

}  // namespace
}  // namespace trainyard::engine
