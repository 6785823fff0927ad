// The receivers' file: what is read by name, and what is refused because nobody knows what it means.

#include <gtest/gtest.h>

#include "harness/apps/io/bad_file.hpp"
#include "harness/apps/seismic/geometry.hpp"
#include "tests/support/temporary_folder.hpp"

namespace espalier::bench::seismic {
namespace {

struct ReceiversCase {
    const char* name;
    const char* text;
    std::vector<std::string> names;  ///< that are read
    std::vector<std::string> says;   ///< of an error; empty: there is none
};

class ReceiversFile : public testing::TestWithParam<ReceiversCase> {};

TEST_P(ReceiversFile, IsReadOrRefused) {
    const TemporaryFolder folder;
    const auto& what = GetParam();
    const std::string path = folder.file("receivers.csv", what.text);
    if (what.says.size() > 0) {
        const std::string message = message_of<io::BadFile>([&] { read_receivers(path); });
        expect_holds(message, {"receivers.csv"});
        for (const std::string& part : what.says) expect_holds(message, {part.c_str()});
        return;
    }
    const Receivers receivers = read_receivers(path);
    EXPECT_EQ(receivers.names, what.names);
    ASSERT_EQ(receivers.count(), 2);
    EXPECT_EQ(receivers.positions[0].x, 1);
    EXPECT_EQ(receivers.positions[0].y, 2);
    EXPECT_EQ(receivers.positions[0].z, 3);
    EXPECT_EQ(receivers.positions[1].x, 4);
    EXPECT_EQ(receivers.positions[1].y, 5);
    EXPECT_EQ(receivers.positions[1].z, 6);
}

const std::vector<std::string> kNames{"A", "7"};

INSTANTIATE_TEST_SUITE_P(
    Texts, ReceiversFile,
    testing::Values(
        ReceiversCase{"ThreeNumbers", "1,2,3\n4,5,6\n", {}, {}},
        ReceiversCase{"NoNames", "x,y,z\n1,2,3\n4,5,6\n", {}, {}},
        ReceiversCase{"Name", "name,x,y,z\nA,1,2,3\n7,4,5,6\n", kNames, {}},
        ReceiversCase{"CapitalName", "Name,X,Y,Z\nA,1,2,3\n7,4,5,6\n", kNames, {}},
        ReceiversCase{"Station", "z,station,x,y\n3,A,1,2\n6,7,4,5\n", kNames, {}},
        ReceiversCase{"Sta", "sta,x,y,z\nA,1,2,3\n7,4,5,6\n", kNames, {}},
        ReceiversCase{"Id", "x,y,z,ID,weight\n1,2,3,A,1\n4,5,6,7,2\n", kNames, {}},
        ReceiversCase{"NumericNames", "id,x,y,z\n101,1,2,3\n102,4,5,6\n", {"101", "102"}, {}},
        ReceiversCase{"FourNumbers", "101,1,2,3\n102,4,5,6\n", {}, {"line 1", "no header", "4 fields", "name,x,y,z"}},
        ReceiversCase{"FiveNumbers", "101,1,2,3,1\n", {}, {"line 1", "no header", "5 fields"}},
        ReceiversCase{"TwoNumbers", "1,2\n3,4\n", {}, {"line 1", "no header", "2 fields"}},
        ReceiversCase{"NameWithoutHeader", "A,1,2,3\nB,4,5,6\n", {}, {"line 1", "no header"}},
        ReceiversCase{"TextWithoutHeader", "A,1,2\nB,4,5\n", {}, {"line 1", "no header"}},
        ReceiversCase{"FourthNumberLater", "1,2,3\n4,5,6,7\n", {}, {"line 2", "4 fields", "has 3"}},
        ReceiversCase{"UnknownColumn", "name,x,y,z,elevation\nA,1,2,3,4\n", {}, {"line 1", "'elevation'", "not known"}},
        ReceiversCase{"UnknownName", "code,x,y,z\nA,1,2,3\n", {}, {"'code'", "name, station, sta and id"}},
        ReceiversCase{"TwoNameColumns", "id,name,x,y,z\n1,A,1,2,3\n", {}, {"'id'", "'name'", "remove one"}},
        ReceiversCase{"NoHeight", "name,x,y\nA,1,2\n", {}, {"lacks z"}},
        ReceiversCase{"EmptyName", "name,x,y,z\nA,1,2,3\n,4,5,6\n", {}, {"line 3", "no name", "name all"}},
        ReceiversCase{"LackingName", "x,y,z,name\n1,2,3,A\n4,5,6\n", {}, {"line 3", "3 fields", "has 4"}},
        ReceiversCase{"Semicolons", "name;x;y;z\nA;1;2;3\n", {}, {"line 1", "'name;x;y;z' is one field", "commas"}},
        ReceiversCase{"Blanks", "1 2 3\n4 5 6\n", {}, {"line 1", "'1 2 3' is one field", "commas"}},
        ReceiversCase{"NoReceivers", "name,x,y,z\n", {}, {"lists no receivers"}},
        ReceiversCase{"Infinite", "x,y,z\n1,2,inf\n", {}, {"line 2", "z is 'inf'"}}),
    [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace espalier::bench::seismic
