#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""spdx.py FILE.spdx.json ARTIFACT: the rules of SPDX 2.3 (https://spdx.github.io/spdx-spec/v2.3/, and its schema for JSON) as far as a description of a
package uses them; and that the description is of this artifact."""
import hashlib
import json
import re
import sys

ID = re.compile(r"SPDXRef-[A-Za-z0-9.-]+")
ALGORITHMS = {"SHA1": 40, "SHA256": 64}
RELATIONS = {"BUILD_TOOL_OF", "CONTAINED_BY", "CONTAINS", "DESCRIBES", "DYNAMIC_LINK", "STATIC_LINK"}
# What the schema requires of each kind of object, and what else it knows of.
REQUIRED = {
    "document": {"SPDXID", "creationInfo", "dataLicense", "name", "spdxVersion"},
    "package": {"SPDXID", "downloadLocation", "name"},
    "file": {"SPDXID", "checksums", "fileName"},
    "relationship": {"spdxElementId", "relatedSpdxElement", "relationshipType"},
    "licence": {"licenseId", "extractedText"},
}
KNOWN = {
    "document": {"documentNamespace", "packages", "files", "relationships", "hasExtractedLicensingInfos"},
    "package": {"checksums", "comment", "copyrightText", "externalRefs", "filesAnalyzed", "licenseConcluded", "licenseDeclared", "licenseInfoFromFiles",
                "packageFileName", "packageVerificationCode", "primaryPackagePurpose", "sourceInfo", "supplier", "versionInfo"},
    "file": {"copyrightText", "licenseConcluded", "licenseInfoInFiles"},
    "relationship": set(),
    "licence": {"name"},
}
faults = []


def expect(condition, what):
    if not condition:
        faults.append(what)


def check_keys(kind, value):
    where = value.get("SPDXID") or value.get("licenseId") or str(value)[:80]
    expect(REQUIRED[kind] <= value.keys(), f"{where} lacks {REQUIRED[kind] - value.keys()}")
    expect(value.keys() <= REQUIRED[kind] | KNOWN[kind], f"{where} has unknown {value.keys() - REQUIRED[kind] - KNOWN[kind]}")


def check_checksums(value):
    for checksum in value.get("checksums", []):
        length = ALGORITHMS.get(checksum["algorithm"])
        expect(length and re.fullmatch(f"[0-9a-f]{{{length}}}", checksum["checksumValue"]), f"{value['SPDXID']}: a wrong checksum")


def check_package(package, licences):
    check_keys("package", package)
    check_checksums(package)
    where = package["SPDXID"]
    expect(re.fullmatch(r"(Person|Organization): .+|NOASSERTION", package["supplier"]), f"{where}: supplier")
    declared = package["licenseDeclared"]
    expect(declared in ("GPL-3.0-or-later", "NOASSERTION") or declared in licences, f"{where}: the licence {declared} is not known")
    if package["filesAnalyzed"]:
        expect("packageVerificationCode" in package, f"{where}: files were analyzed, and there is no code of them")
    else:
        expect("packageVerificationCode" not in package and "licenseInfoFromFiles" not in package, f"{where}: no files were analyzed")
    for reference in package.get("externalRefs", []):
        expect(reference.keys() == {"referenceCategory", "referenceType", "referenceLocator"} and reference["referenceCategory"] == "PACKAGE-MANAGER", f"{where}: reference")
        expect(re.fullmatch(r"pkg:deb/debian/[a-z0-9.%+-]+@[A-Za-z0-9.%-]+\?arch=(amd64|all)", reference["referenceLocator"].replace("%2B", "-")), f"{where}: purl")


def check_references(document):
    elements = [document, *document["packages"], *document["files"]]
    ids = [element["SPDXID"] for element in elements]
    expect(len(set(ids)) == len(ids), "an identifier is given twice")
    expect(all(ID.fullmatch(i) for i in ids), "an identifier has other characters than SPDX allows")
    for relation in document["relationships"]:
        check_keys("relationship", relation)
        expect({relation["spdxElementId"], relation["relatedSpdxElement"]} <= set(ids), f"{relation}: no such element")
        expect(relation["relationshipType"] in RELATIONS, f"{relation}: no such relation")
    related = {i for relation in document["relationships"] for i in (relation["spdxElementId"], relation["relatedSpdxElement"])}
    expect(set(ids) <= related, f"without any relation: {set(ids) - related}")


def check_artifact(document, path):
    with open(path, "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    [described] = [relation["relatedSpdxElement"] for relation in document["relationships"] if relation["relationshipType"] == "DESCRIBES"]
    [package] = [package for package in document["packages"] if package["SPDXID"] == described]
    expect({"algorithm": "SHA256", "checksumValue": digest} in package["checksums"], "it describes another artifact")
    codes = sorted(checksum["checksumValue"] for file in document["files"] for checksum in file["checksums"] if checksum["algorithm"] == "SHA1")
    code = hashlib.sha1("".join(codes).encode()).hexdigest()
    expect(package["packageVerificationCode"]["packageVerificationCodeValue"] == code, "the code of its files is wrong")
    expect(len(document["files"]) > 20, "too few files")


def main(path, artifact):
    with open(path) as file:
        document = json.load(file)
    check_keys("document", document)
    expect(document["spdxVersion"] == "SPDX-2.3" and document["dataLicense"] == "CC0-1.0" and document["SPDXID"] == "SPDXRef-DOCUMENT", "the head is wrong")
    expect(re.fullmatch(r"https://[^#\s]+-[0-9a-f]{64}", document["documentNamespace"]), "the namespace is no address of this content alone")
    expect(document["creationInfo"]["created"] == "2023-11-14T22:13:21Z", "it was not made at SOURCE_DATE_EPOCH")
    expect(all(re.fullmatch(r"(Tool|Organization|Person): .+", creator) for creator in document["creationInfo"]["creators"]), "creators")
    licences = {licence["licenseId"] for licence in document["hasExtractedLicensingInfos"]}
    for licence in document["hasExtractedLicensingInfos"]:
        check_keys("licence", licence)
        expect(re.fullmatch(r"LicenseRef-[A-Za-z0-9.-]+", licence["licenseId"]) and len(licence["extractedText"]) > 100, f"{licence['licenseId']} has no text")
    for package in document["packages"]:
        check_package(package, licences)
    for file in document["files"]:
        check_keys("file", file)
        check_checksums(file)
        expect(file["fileName"].startswith("./") and "SHA1" in [checksum["algorithm"] for checksum in file["checksums"]], f"{file['fileName']}: name or checksum")
    check_references(document)
    check_artifact(document, artifact)
    print("\n".join(faults))
    return bool(faults)


sys.exit(main(*sys.argv[1:]))
