// The HTML report's file; what the page does with it is tested in a browser
// (tests/python/test_report.py).
#include "frontend/report/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "frontend/report/pack.h"

namespace trnemu {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::ordered_json;

constexpr char kName[] = "</script><!--<script>@STYLE@@SCRIPT@@PROFILE@";

Json Packed(Json profile) {
  PackProfile(profile);
  return profile;
}

// Ten instructions of the column.
Json WithColumn(const char* name, Json column) {
  return {{"instructions", {{name, std::move(column)}}}};
}

TEST(Report, HoldsNoElementOfANameAndNeedsNothingElse) {
  const Json profile = {{"format", "trnemu-profile"}, {"program", kName}};
  const auto page = RenderReport(profile.dump());
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_THAT(*page, HasSubstr("\\u003c/script>\\u003c!--\\u003cscript>"
                               "@STYLE@@SCRIPT@@PROFILE@"));
  for (const char* outside : {"http:", "https:", "<link rel=\"style", "@import",
                              "src=", "</script><!--"}) {
    std::string text = *page;
    // The namespace of SVG is a name, not a place.
    const std::string svg = "http://www.w3.org/2000/svg";
    text.erase(text.find(svg), svg.size());
    EXPECT_THAT(text, Not(HasSubstr(outside)));
  }
}

TEST(Report, TakesNothingButAProfile) {
  for (const char* text : {"", "{", "[]", "{}", "{\"format\": \"other\"}"}) {
    EXPECT_FALSE(RenderReport(text).ok()) << text;
  }
}

TEST(Report, TakesNoTextThatIsNoUtf8) {
  EXPECT_FALSE(
      RenderReport("{\"format\": \"trnemu-profile\", \"program\": \"\xff\"}")
          .ok());
}

TEST(Report, PacksTimesAsDifferencesInPicoseconds) {
  Json profile = {{"instructions",
                   {{"start", {1.5, 2.0, 2.0}},
                    {"ready", {1.0, 2.0, 1.25}},
                    {"issue_end", {1.5, 2.001, 3.0}},
                    {"wait_from", {1.0, -1, 1.25}}}}};
  const Json table = Packed(profile)["instructions"];
  EXPECT_EQ(table["start"], Json::parse(R"({"delta": [1500, 500, 0],
                                            "unit": 0.001})"));
  EXPECT_EQ(table["ready"],
            Json::parse(R"({"after": "start", "by": [-500, 0, -750],
                            "unit": 0.001})"));
  EXPECT_EQ(table["issue_end"], Json::parse(R"({"after": "start",
      "by": [0, 1, 1000], "unit": 0.001})"));
  EXPECT_EQ(table["wait_from"], Json::parse(R"({"after": "ready",
      "by": [0, null, 0], "unit": 0.001})"));
}

TEST(Report, PacksRepeatsAsRunsAndSeriesAsDifferences) {
  const Json same = Json::parse("[7,7,7,7,7,7,7,7,7,7,7,7]");
  EXPECT_EQ(Packed(WithColumn("core", same))["instructions"]["core"],
            Json::parse(R"({"runs": [7, 12]})"));
  Json series = Json::array();
  for (int i = 0; i < 100; ++i) series.push_back(1000 + i);
  EXPECT_EQ(Packed(WithColumn("text", series))["instructions"]["text"],
            Json::parse(R"({"delta": {"runs": [1000, 1, 1, 99]}, "unit": 1})"));
  const Json mixed = Json::parse("[3,1,4,1,5,9,2,6,5,3]");
  EXPECT_EQ(Packed(WithColumn("text", mixed))["instructions"]["text"], mixed);
}

TEST(Report, PacksNamesThatRecurAsADictionary) {
  const Json names = Json::parse(R"(["b", "a", "b", "a", "b", "a", "b", "a"])");
  EXPECT_EQ(Packed(WithColumn("engine", names))["instructions"]["engine"],
            Json::parse(R"({"names": ["b", "a"],
                            "at": [0, 1, 0, 1, 0, 1, 0, 1]})"));
}

TEST(Report, PacksTextsAsTemplatesAndWhatTheirNumbersAdd) {
  Json texts = Json::array();
  for (int i = 0; i < 64; ++i) {
    texts.push_back("x" + std::to_string(3 * i) + " 007 [" +
                    std::to_string(100 - i) + "]");
  }
  const Json packed = Packed({{"texts", texts}})["texts"];
  EXPECT_EQ(packed["templates"], Json({"x\1 007 [\1]"}));
  EXPECT_EQ(packed["use"], Json::parse(R"({"runs": [0, 64]})"));
  EXPECT_EQ(packed["numbers"].size(), 128u);
  EXPECT_EQ(packed["numbers"][0], 0);
  EXPECT_EQ(packed["numbers"][1], 100);
  EXPECT_EQ(packed["numbers"][126], 3);
  EXPECT_EQ(packed["numbers"][127], -1);
}

}  // namespace
}  // namespace trnemu
